"""Settings and reports that a pipe and its shipping process exchange.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

from .environment import Identity
from .rest import SUFFIX

COMMAND_LIMIT = 1000
"""Characters of a command line that are sent: as many as a Slurm event has."""


class ShippingRun(NamedTuple):
    """The run of a command: start in seconds since 1970, command (empty for a filter), and directory.

    The directory is None where it is this process's own; `rank` is None where it is the whole job.
    """

    began: float
    command: Sequence[str] = ()
    directory: str | None = None
    rank: int | None = None

    @property
    def incarnation(self) -> str:
        """The incarnation of a job that no scheduler reports: its start (`schedmate_records/incarnation.py`). Ranks have none in common."""
        if self.rank is not None:
            return ""
        seconds, milliseconds = divmod(int(self.began * 1000), 1000)
        return time.strftime("pipe:%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{milliseconds:03d}Z"


class PipeSettings(NamedTuple):
    """Settings of a pipe.

    Attributes:
        identity: Whose lines these are.
        name: Name of this producer, fresh for each run; also that of its spool directory.
        spool: Where lines wait while the broker is away.
        spool_bytes: What they may take there: half of it is for chunks, half for what could not even be read in time.
        hold: Seconds for which the end of a job may be held up, where 1 % of the job's time is not more.
        close_timeout: Seconds for which what is left is still sent after the job has ended, in the background.
        memory: Bytes to keep in memory, before and after chunking alike.
        chunk_lines: Pieces of a chunk at most.
        chunk_seconds: Seconds after its first piece when a chunk is closed.
        log: File for the shipping process's own log; None for none. Its terminal is the job's and is left alone.
        run: What runs, where this pipe reports its start and its end; None where another program does.
        receiver: What the pipe ships to, for people.
    """

    identity: Identity
    name: str
    spool: str
    spool_bytes: int = 512 << 20
    hold: float = 0.02
    close_timeout: float = 5.0
    memory: int = 16 << 20
    chunk_lines: int = 500
    chunk_seconds: float = 0.5
    log: str | None = None
    run: ShippingRun | None = None
    receiver: str = "broker"


class ShippingReport(NamedTuple):
    """Report of the shipping process after it has read everything, and again at its end.

    Attributes:
        kept: Lines that wait in the spool.
        lost: Lines given up and not yet reported.
        away: The broker does not answer.
        refused: Lines that will never be taken.
        refusal: Why not.
        error: Why it ended early; empty where it did not.
    """

    kept: int = 0
    lost: int = 0
    away: bool = False
    refused: int = 0
    refusal: str = ""
    error: str = ""


def rest_directory(settings: PipeSettings) -> str:
    """Return where a pipe leaves what it has not shipped."""
    return f"{settings.spool}/{settings.name}{SUFFIX}"


def describe(settings: PipeSettings) -> bytes:
    """Return what others need in order to ship the rest of a pipe."""
    import json  # noqa: PLC0415  the command's start waits for no library

    who, run = settings.identity, settings.run
    about = [settings.name, who.job, who.attempt, who.node, who.rank]
    if run is not None:
        command: list[str] = []
        for word in run.command:
            command.append(word[: COMMAND_LIMIT - sum(map(len, command))])
        about += [run.began, command, working_directory(), run.rank is not None]
    return json.dumps(about).encode()


def described(about: bytes) -> PipeSettings:
    """Return the settings of the pipe that `about` describes. Raises `ValueError`."""
    import json  # noqa: PLC0415

    found = json.loads(about)
    kinds = [str, str, int, str, int, float, list, str, bool]
    if not isinstance(found, list) or [type(each) for each in found] not in (kinds, kinds[:8], kinds[:5]):
        raise ValueError(f"expected the description of a pipe, got {about[:80]!r}")
    name, job, attempt, node, rank, *run = found
    return PipeSettings(
        Identity(job, attempt, node, rank, whole=bool(run) and not any(run[3:])),
        name,
        "",
        run=ShippingRun(run[0], tuple(map(str, run[1])), run[2], rank if any(run[3:]) else None) if run else None,
    )


def working_directory() -> str:
    """Return this process's directory; an empty one where it was removed."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""
