"""Slices that were taken from the tap's queue and are not safe yet: another shipping process gets them again.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from .progress import ENDED

if TYPE_CHECKING:
    from .overflow import Slice
    from .progress import Progress
    from .rest import Start

NOTHING = memoryview(b"")


class UnsafeSlices:
    """Slices in order, and which part of them is not written to the shipping process. Not thread-safe: the tap's lock must be held."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes of the slices."""
        self.current = NOTHING
        """The part of the slice under way that is not written."""
        self._unwritten = 0
        self._slices: deque[Slice] = deque()

    def __bool__(self) -> bool:
        return bool(self._slices)

    @property
    def written(self) -> bool:
        """True where all slices are written."""
        return not (self.current or self._unwritten)

    @property
    def start(self) -> Start | None:
        """Start of the oldest slice; None if there is none."""
        return self._slices[0].start if self._slices else None

    def add(self, piece: Slice) -> None:
        """Add a slice, and write it next. All others must be written."""
        self._slices.append(piece)
        self.size += len(piece.data)
        self.current = memoryview(piece.data)

    def choose(self) -> bool:
        """Return whether there is something to write, which is then `current`."""
        if not self.current and self._unwritten:
            self.current = memoryview(self._slices[-self._unwritten].data)
            self._unwritten -= 1
        return bool(self.current)

    def write_again(self) -> None:
        """Write all slices again: another process reads them."""
        self.current, self._unwritten = NOTHING, len(self._slices)

    def write_no_more(self) -> None:
        """Count all slices as written: no process reads them."""
        self.current, self._unwritten = NOTHING, 0

    def release(self, progress: Progress) -> None:
        """Remove the slices that are safe."""
        safe = [progress.safe(stream)[0].offset for stream in (0, 1)]
        while len(self._slices) > self._unwritten:
            piece = self._slices[0]
            if any(piece.end.sizes[stream] > safe[stream] for stream in (0, 1)):
                return
            if piece.ended and progress.safe_events < ENDED:
                return
            self._slices.popleft()
            self.size -= len(piece.data)

    def before(self, position: int | None) -> list[Slice]:
        """Return the slices that begin before `position`, or all of them."""
        return [each for each in self._slices if position is None or each.start.position < position]
