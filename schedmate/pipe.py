"""`schedmate pipe`, at once: what the job waits for is read with the standard library alone, and all else loads beside the running job.

The command line (`cli/pipe.py`) says how a pipe is called, and what is wrong with a call; the settings of Kafka are
read by the process that ships. Where those are wrong the job runs all the same, and its lines wait on disk as while the broker is away.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from streams.producers.environment import UnknownJob, identify
from streams.producers.pipe import end_like, filter_through, fresh_name, run_command
from streams.producers.pipe_options import UsageError, number, parse
from streams.producers.shipping_process import PipeSettings, ShippingRun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.settings import Settings
    from streams.producer import Producer
    from streams.producers.environment import Identity

OPTIONS = ("job", "attempt", "rank", "node", "log")
VARIABLE = "SCHEDMATE_PRODUCER__"
DEFAULT_FILE = "/etc/schedmate/schedmate.toml"


class Shipping(NamedTuple):
    """What of the settings' section `[producer]` a pipe needs before its command runs; the defaults are the settings' own."""

    directory: str
    spool_mb: int = 512
    hold_seconds: float = 0.03
    close_seconds: float = 5.0
    chunk_lines: int = 500
    chunk_seconds: float = 0.5


class Read(NamedTuple):
    """What of the settings a pipe needs before its command runs: of `[producer]`, and the names of `[slurm]`."""

    shipping: Shipping
    clusters: tuple[str, ...] = ()


def run(arguments: Sequence[str]) -> None:
    """Run a pipe and end as it does; return where the command line has something to say first: help, or what is wrong."""
    try:
        options, command = parse(arguments, OPTIONS)
        shipping, clusters = read_settings(os.environ)
        identity = identify(
            job=options.get("job"),
            attempt=number(options, "attempt"),
            rank=number(options, "rank"),
            node=options.get("node"),
            clusters=clusters,
        )
    except (UsageError, UnknownJob, ValueError):
        return
    start(identity, command, shipping, _settings, options.get("log"))


def start(
    identity: Identity,
    command: Sequence[str],
    shipping: Shipping,
    settings: Callable[[], Settings],
    log: str | None = None,
) -> None:
    """Run a pipe and end as it does. `settings` is called in the process that ships."""
    limits = None
    if (shipping.chunk_lines, shipping.chunk_seconds) != (500, 0.5):
        from streams.producers.chunker import ChunkLimits  # noqa: PLC0415

        limits = ChunkLimits(shipping.chunk_lines, seconds=shipping.chunk_seconds)
    how = PipeSettings(
        identity=identity,
        name=fresh_name(identity.node),
        spool=f"{shipping.directory}/spool",
        spool_bytes=shipping.spool_mb << 20,
        hold=shipping.hold_seconds,
        close_timeout=shipping.close_seconds,
        limits=limits,
        log=log,
        run=ShippingRun(time.time(), command) if identity.whole else None,
    )

    def connect() -> Producer:
        from schedmate import logging  # noqa: PLC0415
        from schedmate.connections import kafka_connection  # noqa: PLC0415
        from streams.kafka import KafkaProducer  # noqa: PLC0415

        loaded = settings()
        if log is not None:
            logging.configure(loaded.service)
        return KafkaProducer(kafka_connection(loaded.kafka), linger_ms=0)

    end_like(run_command(command, how, connect) if command else filter_through(how, connect))


def read_settings(environment: Mapping[str, str]) -> Read:
    """Return what the settings file and the environment say.

    Raises:
        ValueError: They say something that the settings would refuse, or the file cannot be read.
    """
    state = environment.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")  # noqa: PTH111  not pathlib: it takes 5 ms
    found: dict[str, object] = {"directory": f"{state}/schedmate"}
    clusters: tuple[str, ...] = ()
    file = environment.get("SCHEDMATE_CONFIG") or DEFAULT_FILE
    if environment.get("SCHEDMATE_CONFIG") or os.path.exists(file):  # noqa: PTH110
        sections = _sections(file)
        found |= {name: value for name, value in sections[0].items() if name in Shipping._fields}
        clusters = _names(sections[1].get("clusters", []))
    given = {name.upper(): value for name, value in environment.items()}
    found |= {name: value for name in Shipping._fields if (value := given.get(f"{VARIABLE}{name.upper()}")) is not None}
    directory = str(found.pop("directory"))
    numbers: dict[str, Any] = {name: _positive(name, value) for name, value in found.items()}
    return Read(Shipping(directory, **numbers), clusters)


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"expected a list of names for slurm.clusters, got {value!r}")
    return tuple(value)


def _positive(name: str, value: object) -> int | float:
    whole = Shipping.__annotations__[name] == "int"
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError(f"expected a number for producer.{name}, got {value!r}")
    read = int(value) if whole else float(value)
    if not (0 if name.endswith(("hold_seconds", "close_seconds")) else 1e-9) <= read < 1e9:
        raise ValueError(f"expected a positive number for producer.{name}, got {value!r}")
    return read


def _sections(file: str) -> list[dict[str, object]]:
    import tomllib  # noqa: PLC0415

    try:
        with open(file, "rb") as opened:  # noqa: PTH123
            content = tomllib.load(opened)
    except OSError as error:
        raise ValueError(f"expected a settings file at {file}: {error.strerror}") from error
    sections = [content.get("producer", {}), content.get("slurm", {})]
    if not all(isinstance(section, dict) for section in sections):
        raise ValueError(f"expected sections [producer] and [slurm] in {file}")
    return sections


def _settings() -> Settings:
    from schedmate.settings import load  # noqa: PLC0415

    return load().settings


def main() -> None:
    """Begin the command `schedmate`: a pipe runs at once, anything else loads the command line."""
    if sys.argv[1:2] == ["pipe"]:
        run(sys.argv[2:])
    from schedmate.cli import main as command_line  # noqa: PLC0415

    command_line()
