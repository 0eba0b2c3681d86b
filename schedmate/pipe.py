"""`schedmate pipe`, started fast: what the job waits for needs the standard library alone; the rest loads while the job runs.

Whatever is wrong with settings, variables and options is a warning, and the command runs. The settings of Kafka are read by the process
that ships. Where those are wrong the lines wait on disk as while the broker is away.
"""

from __future__ import annotations

import os
import sys

from streams.producers.child import run
from streams.producers.collector_socket import VARIABLE as SOCKET_VARIABLE
from streams.producers.collector_socket import choose_socket
from streams.producers.descriptors import say
from streams.producers.environment import state_directory
from streams.producers.pipe_call import NUMBERS, VARIABLE, checked_number, identified, short_repr
from streams.producers.pipe_options import UsageError, parse

from . import SETTINGS_FILE

# Not the one of `typing`, which takes a quarter of the time that the start may cost a job.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.producer import Producer
    from streams.producers.child import Child
    from streams.producers.environment import Identity

OPTIONS = ("job", "attempt", "rank", "node", "socket", "log")


def start(arguments: Sequence[str], file: str | None = None, changes: Sequence[str] = ()) -> None:
    """Run a pipe and end as it does; return where the command line has to answer first: with help, or an error of usage.

    Args:
        arguments: Options and command.
        file: The settings file that the command line names.
        changes: Settings that it changes, as `section.name=value`.
    """
    faults: list[str] = []
    try:
        options, command = parse(arguments, OPTIONS, faults)
    except UsageError:
        return
    flags = dict(change.partition("=")[::2] for change in changes)
    directory, numbers, clusters, named = read_settings(os.environ, faults, file, flags)
    socket = _socket(options.get("socket"), named)
    identity = identified(options, os.environ, faults, clusters)
    for fault in faults:
        say(fault)
    where = (directory, numbers, socket, options.get("log"))
    run(command, lambda child: _ship(identity, child, where, (file, flags)))


def _ship(
    identity: Identity | None,
    child: Child | None,
    where: tuple[str, Mapping[str, int | float], str | None, str | None],
    source: tuple[str | None, Mapping[str, str]],
) -> int:
    """Do the rest, which is loaded while the job runs, and return the exit status."""
    from streams.producers.pipe import run_pipe  # noqa: PLC0415

    directory, numbers, socket, log = where

    def connect() -> Producer:
        if socket is None or log is not None:
            from pathlib import Path  # noqa: PLC0415

            from .services import logging  # noqa: PLC0415
            from .settings.settings import load  # noqa: PLC0415

            file, flags = source
            settings = load(None if file is None else Path(file), flags).settings
            if log is not None:
                logging.configure(settings.service)
        if socket is not None:
            from streams.producers.collector_connection import CollectorConnection  # noqa: PLC0415

            return CollectorConnection(socket)
        from streams.kafka import KafkaProducer  # noqa: PLC0415

        from .connections import kafka_connection  # noqa: PLC0415

        return KafkaProducer(kafka_connection(settings.kafka), linger_ms=0)

    return run_pipe(identity, child, directory, numbers, connect, receiver="collector" if socket else "broker", log=log)


def _socket(option: str | None, named: tuple[str, bool]) -> str | None:
    """Return the socket of the collector that the pipe hands its lines to; None where it writes to Kafka."""
    setting, broker_named = named
    return choose_socket(option or os.environ.get(SOCKET_VARIABLE) or setting, broker_named=broker_named)


def read_settings(
    environment: Mapping[str, str], faults: list[str], file: str | None = None, flags: Mapping[str, str] | None = None
) -> tuple[str, dict[str, int | float], tuple[str, ...], tuple[str, bool]]:
    """Return what settings file, environment and `flags` give a pipe.

    Directory and numbers of `[producer]`, the clusters of `[slurm]`, and what decides where it ships: the socket of `[producer]`, and
    whether a broker is named. What the settings would refuse has its default; `faults` gets a sentence for each.
    """
    flags = flags or {}
    found: dict[str, object] = {"directory": "", "socket": "", **NUMBERS}
    clusters: tuple[str, ...] = ()
    broker_named = False
    named = file or environment.get("SCHEDMATE_CONFIG")
    if named or os.path.exists(SETTINGS_FILE):  # noqa: PTH110
        producer, slurm, kafka = _sections(named or SETTINGS_FILE, faults)
        found.update((name, value) for name, value in producer.items() if name in found)
        clusters = _names(slurm.get("clusters", []), faults)
        broker_named = "brokers" in kafka
    given = {name.upper(): value for name, value in environment.items()}
    for name in found:
        value = flags.get(f"producer.{name}", given.get(f"{VARIABLE}{name.upper()}"))
        if value is not None:
            found[name] = value
    directory, socket = found.pop("directory") or state_directory(environment), found.pop("socket")
    if not isinstance(socket, str):
        faults.append(f"expected a path for producer.socket, got {short_repr(socket)}: it is left out")
        socket = ""
    numbers = {name: checked_number(name, value, faults) for name, value in found.items()}
    broker_named = broker_named or "SCHEDMATE_KAFKA__BROKERS" in given or "kafka.brokers" in flags
    return str(directory), numbers, clusters, (socket, broker_named)


def _names(value: object, faults: list[str]) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        faults.append(f"expected a list of names for slurm.clusters, got {short_repr(value)}: it is left out")
        return ()
    return tuple(value)


def _sections(file: str, faults: list[str]) -> list[dict[str, object]]:
    try:
        import tomllib  # noqa: PLC0415

        with open(file, "rb") as opened:  # noqa: PTH123
            content = tomllib.load(opened)
    except Exception as error:  # noqa: BLE001  whatever it is: the command must run
        why = getattr(error, "strerror", None) or error
        faults.append(f"expected a settings file at {file}: {why}: defaults are used")
        return [{}, {}, {}]
    sections = []
    for name in ("producer", "slurm", "kafka"):
        section = content.get(name, {})
        if not isinstance(section, dict):
            faults.append(f"expected a section [{name}] in {file}: defaults are used")
        sections.append(section if isinstance(section, dict) else {})
    return sections


def main() -> None:
    """Begin the command `schedmate`: a pipe runs at once, anything else loads the command line."""
    file: str | None = None
    changes: list[str] = []
    words = sys.argv[1:]
    while words and words[0].partition("=")[0] in ("--config", "--set"):
        name, equals, value = words.pop(0).partition("=")
        if not equals:
            value = words.pop(0) if words else ""
        if name == "--set":
            changes.append(value)
        else:
            file = value
    if words[:1] == ["pipe"]:
        start(words[1:], file, changes)
    from .cli import main as command_line  # noqa: PLC0415

    command_line()
