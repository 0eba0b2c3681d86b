"""Gathers pieces into chunks: up to 500 pieces, 64 KB, or half a second. A job's silence makes heartbeats: chunks without any piece.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from .pieces import START, Mark, Pieces

Chunk = TypeVar("Chunk")


class Ready(Generic[Chunk]):
    """A chunk to be shipped, the number of its pieces, the border behind the last one, and the number of the chunk after it."""

    __slots__ = ("after", "next_seq", "pieces", "record")

    def __init__(self, record: Chunk, pieces: int, after: Mark, next_seq: int) -> None:
        self.record, self.pieces, self.after, self.next_seq = record, pieces, after, next_seq


class ChunkLimits(NamedTuple):
    """Limits of a chunk: `pieces`, `size` in bytes, `seconds` since its first piece. The first that is reached closes it.

    After `silence` seconds without a piece a heartbeat reports that the job is silent, since a job that hangs prints nothing and the last
    reports wait for more. Others follow every `again` seconds for ten minutes, then after each tenth of the silence, for four hours.
    """

    pieces: int = 500
    size: int = 64 * 1024
    seconds: float = 0.5
    silence: float = 3.0
    again: float = 10.0


SHIPPED = ChunkLimits()
"""The default limits of pipes and the collector."""


class Chunker(Generic[Chunk]):
    """Makes the chunks of one stream.

    Args:
        make: Makes a chunk of the fields that `records.Lines` has besides `producer`, given by name.
        seq: Number of the first chunk.
        start: The border before the first piece.
        limits: When a chunk is closed.
        heartbeats: Whether a silence is reported.
    """

    def __init__(
        self,
        make: Callable[..., Chunk],
        *,
        seq: int = 0,
        start: Mark = START,
        limits: ChunkLimits = SHIPPED,
        heartbeats: bool = True,
    ) -> None:
        self._make = make
        self._heartbeats = heartbeats
        self._seq = seq
        self._limits = limits
        self._start = self._after = start
        self._heard: float | None = None
        self._heard_time = 0.0
        self._next_beat = limits.silence
        self._clear()

    @property
    def empty(self) -> bool:
        """True where no piece waits for more."""
        return not self._lines

    @property
    def deadline(self) -> float | None:
        """Time at which the next chunk is due without a further piece, on the clock of `add`; None for none."""
        if self._lines:
            return self._opened + self._limits.seconds
        if self._heard is None or not self._heartbeats or self._next_beat > 4 * 3600.0:
            return None
        return self._heard + self._next_beat

    def add(self, pieces: Pieces, now: float) -> list[Ready[Chunk]]:
        """Take `pieces` in at `now` (a clock that never goes back) and return the chunks that they complete."""
        ready: list[Ready[Chunk]] = []
        if pieces.lines and pieces.first != self._after.piece:
            ready += self.flush()
            self._start = Mark(pieces.ends[0], pieces.numbers[0], pieces.first)
        at, count = 0, len(pieces.lines)
        while at < count:
            room = self._limits.pieces - len(self._lines)
            upto = bisect_right(pieces.ends, self._start.offset + self._limits.size, at, min(count, at + room))
            if upto == at and self._lines:
                ready += self.flush()
                continue
            upto = max(upto, at + 1)
            self._add_pieces(pieces, at, upto, now)
            at = upto
            if len(self._lines) >= self._limits.pieces:
                ready += self.flush()
        return ready

    def due(self, now: float) -> list[Ready[Chunk]]:
        """Return the open chunk where its time has come, or one without pieces where the silence has become too long."""
        deadline = self.deadline
        if deadline is None or now < deadline:
            return []
        return self.flush() or [self._heartbeat(now)]

    def flush(self) -> list[Ready[Chunk]]:
        """Return the open chunk, if there is one."""
        if not self._lines:
            return []
        same = self._after_ms[-1] == 0
        record = self._make(
            seq=self._seq,
            first_line=self._first_line,
            first_piece=self._first_piece,
            lines=self._lines,
            time=self._time,
            after_ms=[] if same else self._after_ms,
            cut=self._cut,
        )
        pieces = len(self._lines)
        self._seq += 1
        self._start = self._after
        self._clear()
        return [Ready(record, pieces, self._after, self._seq)]

    def _heartbeat(self, now: float) -> Ready[Chunk]:
        assert self._heard is not None
        silence = now - self._heard
        # An alarm needs a heartbeat within seconds of its limit: in the first ten minutes they come at even intervals.
        self._next_beat = silence + max(self._limits.again, silence / 10 if silence >= 600.0 else 0.0)
        record = self._make(
            seq=self._seq,
            first_line=self._after.line,
            first_piece=self._after.piece,
            lines=[],
            time=self._heard_time + silence,
            after_ms=[],
            cut=[],
        )
        self._seq += 1
        return Ready(record, 0, self._after, self._seq)

    def _clear(self) -> None:
        self._lines: list[str] = []
        self._after_ms: list[int] = []
        self._cut: list[int] = []
        self._opened = self._time = 0.0
        self._first_line = self._first_piece = 0

    def _add_pieces(self, pieces: Pieces, start: int, end: int, now: float) -> None:
        first_time = pieces.first_time if start == 0 else pieces.time
        self._heard, self._heard_time, self._next_beat = now, pieces.time, self._limits.silence
        if not self._lines:
            self._opened, self._time = now, first_time
            self._first_line, self._first_piece = pieces.numbers[start], pieces.first + start
        have = len(self._lines)
        self._lines += pieces.lines[start:end]
        self._after_ms.append(self._ms_since_first(first_time))
        if end - start > 1:
            self._after_ms += [self._ms_since_first(pieces.time)] * (end - start - 1)
        self._cut += [have + index - start for index in pieces.cut if start <= index < end]
        if end == len(pieces.lines):
            self._after = pieces.after
        else:
            self._after = Mark(pieces.ends[end - 1], pieces.numbers[end], pieces.first + end)

    def _ms_since_first(self, time: float) -> int:
        """Milliseconds since the first piece; where the clock was set back, those of the piece before."""
        least = self._after_ms[-1] if self._after_ms else 0
        # At most six days from the first to the last piece: no reader takes a week, and a clock may be set by years.
        return max(least, min(round((time - self._time) * 1000), 6 * 86_400_000))
