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


class UnsafeSlices:
    """Slices in order. The newest `unwritten` of them must be written again. Not thread-safe: the tap's lock must be held."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes of the slices."""
        self.unwritten = 0
        self._slices: deque[Slice] = deque()

    def __bool__(self) -> bool:
        return bool(self._slices)

    @property
    def start(self) -> Start | None:
        """Where the oldest slice begins; None where there is none."""
        return self._slices[0].start if self._slices else None

    def add(self, piece: Slice) -> None:
        """Add a slice that is written now."""
        self._slices.append(piece)
        self.size += len(piece.data)

    def next_unwritten(self) -> Slice | None:
        """Return the next slice that must be written again; None where there is none."""
        if not self.unwritten:
            return None
        piece = self._slices[-self.unwritten]
        self.unwritten -= 1
        return piece

    def write_again(self) -> None:
        """Return all slices from `next_unwritten`: another process reads them."""
        self.unwritten = len(self._slices)

    def release(self, progress: Progress) -> None:
        """Remove the slices that are safe."""
        safe = [progress.safe(stream)[0].offset for stream in (0, 1)]
        while len(self._slices) > self.unwritten:
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
