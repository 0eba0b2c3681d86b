"""Gathers pieces into chunks: up to 500 pieces, 64 KB, or half a second."""

from bisect import bisect_right
from dataclasses import dataclass

import msgspec

from records import LogChunk, NodeLogChunk

from .pieces import START, Mark, Pieces


@dataclass(frozen=True, slots=True)
class Ready:
    """A chunk to be shipped, the border behind its last piece, and the number of the chunk after it."""

    record: LogChunk | NodeLogChunk
    after: Mark
    next_seq: int


@dataclass(frozen=True, slots=True)
class Limits:
    """When a chunk is closed: `pieces`, `size` in bytes, `seconds` since its first piece. Whichever comes first."""

    pieces: int = 500
    size: int = 64 * 1024
    seconds: float = 0.5


class Chunker:
    """Makes the chunks of one stream.

    Args:
        template: A chunk with everything but lines, numbers and times.
        seq: Number of the first chunk.
        start: The border before the first piece.
        limits: When a chunk is closed.
    """

    def __init__(
        self,
        template: LogChunk | NodeLogChunk,
        *,
        seq: int = 0,
        start: Mark = START,
        limits: Limits = Limits(),
    ) -> None:
        self._template = template
        self._seq = seq
        self._limits = limits
        self._start = self._after = start
        self._clear()

    @property
    def deadline(self) -> float | None:
        """When the open chunk is due, on the clock of `add`; None where no chunk is open."""
        return self._opened + self._limits.seconds if self._lines else None

    def add(self, pieces: Pieces, now: float) -> list[Ready]:
        """Take `pieces` in at `now` (a clock that never goes back) and return the chunks that they complete."""
        ready: list[Ready] = []
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
            self._take(pieces, at, upto, now)
            at = upto
            if len(self._lines) >= self._limits.pieces:
                ready += self.flush()
        return ready

    def due(self, now: float) -> list[Ready]:
        """Return the open chunk where its time has come."""
        deadline = self.deadline
        return self.flush() if deadline is not None and now >= deadline else []

    def flush(self) -> list[Ready]:
        """Return the open chunk, if there is one."""
        if not self._lines:
            return []
        same = self._after_ms[-1] == 0
        record = msgspec.structs.replace(
            self._template,
            seq=self._seq,
            first_line=self._first_line,
            first_piece=self._first_piece,
            lines=self._lines,
            time=self._time,
            after_ms=[] if same else self._after_ms,
            cut=self._cut,
        )
        self._seq += 1
        self._start = self._after
        self._clear()
        return [Ready(record, self._after, self._seq)]

    def _clear(self) -> None:
        self._lines: list[str] = []
        self._after_ms: list[int] = []
        self._cut: list[int] = []
        self._opened = self._time = 0.0
        self._first_line = self._first_piece = 0

    def _take(self, pieces: Pieces, start: int, end: int, now: float) -> None:
        first_time = pieces.first_time if start == 0 else pieces.time
        if not self._lines:
            self._opened, self._time = now, first_time
            self._first_line, self._first_piece = pieces.numbers[start], pieces.first + start
        have = len(self._lines)
        self._lines += pieces.lines[start:end]
        self._after_ms.append(self._since(first_time))
        if end - start > 1:
            self._after_ms += [self._since(pieces.time)] * (end - start - 1)
        self._cut += [have + index - start for index in pieces.cut if start <= index < end]
        if end == len(pieces.lines):
            self._after = pieces.after
        else:
            self._after = Mark(pieces.ends[end - 1], pieces.numbers[end], pieces.first + end)

    def _since(self, time: float) -> int:
        """Milliseconds since the first piece; where the clock was set back, those of the piece before."""
        least = self._after_ms[-1] if self._after_ms else 0
        return max(least, round((time - self._time) * 1000))
