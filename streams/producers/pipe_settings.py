"""What a pipe and its shipping process know of each other: how to ship, what runs, and what became of the lines.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .chunker import ChunkLimits
    from .environment import Identity


class ShippingRun(NamedTuple):
    """What runs: since when, in seconds since 1970, and the command (empty where a filter cannot know it)."""

    began: float
    command: Sequence[str] = ()

    @property
    def incarnation(self) -> str:
        """The incarnation of a job that no scheduler reports: its start (`records/incarnation.py`)."""
        seconds, milliseconds = divmod(int(self.began * 1000), 1000)
        return time.strftime("pipe/%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{milliseconds:03d}Z"


class PipeSettings(NamedTuple):
    """How a pipe ships.

    Attributes:
        identity: Whose lines these are.
        name: Name of this producer, fresh for each run; also that of its spool directory.
        spool: Where lines wait while the broker is away.
        spool_bytes: What they may take there: half of it is for chunks, half for what could not even be read in time.
        hold: Seconds for which the end of a job may be held up, where 1 % of the job's time is not more.
        close_timeout: Seconds for which what is left is still sent after the job has ended, in the background.
        memory: Bytes to keep in memory, before and after chunking alike.
        limits: When a chunk is closed; None for `chunker.SHIPPED`.
        log: File for the shipping process's own log; None for none. Its terminal is the job's and is left alone.
        run: What runs, where this pipe is to tell of its start and its end; None where somebody else does.
        receiver: What the pipe ships to, for people.
    """

    identity: Identity
    name: str
    spool: str
    spool_bytes: int = 512 << 20
    hold: float = 0.02
    close_timeout: float = 5.0
    memory: int = 16 << 20
    limits: ChunkLimits | None = None
    log: str | None = None
    run: ShippingRun | None = None
    receiver: str = "broker"


class ShippingReport(NamedTuple):
    """What the shipping process says once it has read all: when nothing can be lost any more, and again at its end.

    Attributes:
        kept: Lines that wait in the spool.
        lost: Lines given up and not yet told to anyone.
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
