"""`schedmate pipe`, at once: what the job waits for is read with the standard library alone, and all else loads beside the running job.

The command line (`cli/pipe.py`) says how a pipe is called, and what is wrong with a call; the settings of Kafka are
read by the process that ships. Where those are wrong the job runs all the same, and its lines wait on disk as while the broker is away.
"""

from __future__ import annotations

import os
import sys
import time

from schedmate import SETTINGS_FILE
from streams.producers.child import Child
from streams.producers.environment import UnknownJob, identify
from streams.producers.pipe_options import UsageError, number, parse

# Not the one of `typing`, which takes a quarter of the time that the start may cost a job.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from schedmate.settings import Settings
    from streams.producer import Producer
    from streams.producers.environment import Identity

OPTIONS = ("job", "attempt", "rank", "node", "log")
VARIABLE = "SCHEDMATE_PRODUCER__"
NUMBERS: dict[str, int | float] = {
    "spool_mb": 512,
    "hold_seconds": 0.02,
    "close_seconds": 5.0,
    "chunk_lines": 500,
    "chunk_seconds": 0.5,
}
"""What of the settings' section `[producer]` a pipe needs, and the settings' own defaults: whole numbers stay whole."""


def run(arguments: Sequence[str]) -> None:
    """Run a pipe and end as it does; return where the command line has something to say first: help, or what is wrong."""
    try:
        options, command = parse(arguments, OPTIONS)
        directory, numbers, clusters = read_settings(os.environ)
        identity = identify(
            job=options.get("job"),
            attempt=number(options, "attempt"),
            rank=number(options, "rank"),
            node=options.get("node"),
            clusters=clusters,
        )
    except (UsageError, UnknownJob, ValueError):
        return
    start(identity, command, (directory, numbers), _settings, options.get("log"))


def start(
    identity: Identity,
    command: Sequence[str],
    producer: tuple[str, Mapping[str, int | float]],
    settings: Callable[[], Settings],
    log: str | None = None,
) -> None:
    """Run a pipe and end as it does.

    Args:
        identity: Whose lines it ships.
        command: What to run; empty for standard input.
        producer: Directory and numbers (`NUMBERS`) of the section `[producer]`.
        settings: All settings; called in the process that ships.
        log: File for that process's own log.
    """
    directory, numbers = producer
    child = Child(command) if command else None
    began = child.began if child else time.time()
    # The job runs: all else is loaded beside it.
    from streams.producers.chunker import ChunkLimits  # noqa: PLC0415
    from streams.producers.pipe import end_like, filter_through, follow, fresh_name  # noqa: PLC0415
    from streams.producers.pipe_settings import PipeSettings, ShippingRun  # noqa: PLC0415

    how = PipeSettings(
        identity=identity,
        name=fresh_name(identity.node),
        spool=f"{directory}/spool",
        spool_bytes=int(numbers["spool_mb"]) << 20,
        hold=numbers["hold_seconds"],
        close_timeout=numbers["close_seconds"],
        limits=ChunkLimits(int(numbers["chunk_lines"]), seconds=numbers["chunk_seconds"]),
        log=log,
        run=ShippingRun(began, command) if identity.whole else None,
    )

    def connect() -> Producer:
        from schedmate import logging  # noqa: PLC0415
        from schedmate.connections import kafka_connection  # noqa: PLC0415
        from streams.kafka import KafkaProducer  # noqa: PLC0415

        loaded = settings()
        if log is not None:
            logging.configure(loaded.service)
        return KafkaProducer(kafka_connection(loaded.kafka), linger_ms=0)

    end_like(follow(child, how, connect) if child else filter_through(how, connect))


def read_settings(environment: Mapping[str, str]) -> tuple[str, dict[str, int | float], tuple[str, ...]]:
    """Return what the settings file and the environment say: directory and numbers of `[producer]`, and the clusters of `[slurm]`.

    Raises:
        ValueError: They say something that the settings would refuse, or the file cannot be read.
    """
    try:
        return _read(environment)
    except RecursionError as error:
        raise ValueError("expected settings, got values nested too deeply") from error


def _read(environment: Mapping[str, str]) -> tuple[str, dict[str, int | float], tuple[str, ...]]:
    state = environment.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")  # noqa: PTH111  not pathlib: it takes 5 ms
    found: dict[str, object] = {"directory": f"{state}/schedmate", **NUMBERS}
    clusters: tuple[str, ...] = ()
    file = environment.get("SCHEDMATE_CONFIG") or SETTINGS_FILE
    if environment.get("SCHEDMATE_CONFIG") or os.path.exists(file):  # noqa: PTH110
        sections = _sections(file)
        found |= {name: value for name, value in sections[0].items() if name in found}
        clusters = _names(sections[1].get("clusters", []))
    given = {name.upper(): value for name, value in environment.items()}
    found |= {name: value for name in found if (value := given.get(f"{VARIABLE}{name.upper()}")) is not None}
    directory = str(found.pop("directory"))
    return directory, {name: _positive(name, value) for name, value in found.items()}, clusters


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"expected a list of names for slurm.clusters, got {value!r}")
    return tuple(value)


def _positive(name: str, value: object) -> int | float:
    whole = isinstance(NUMBERS[name], int)
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
