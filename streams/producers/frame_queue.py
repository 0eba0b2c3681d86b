"""Frames that wait in memory until the tap's thread writes them to the shipping process or to disk.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

from collections import deque

from . import frames
from .overflow import Slice
from .progress import Totals
from .rest import Start


class _Frame:
    """A frame, and the bytes and newlines of `stream` that it represents. `stream` is -1 for a frame of no stream.

    `memory` is how many bytes of the budget it takes, `ends` whether it is the end of the job.
    """

    __slots__ = ("ends", "head", "memory", "newlines", "payload", "size", "stream")

    def __init__(
        self,
        frame: tuple[bytes, bytes],
        stream: int = -1,
        size: int = 0,
        newlines: int = 0,
        *,
        memory: int = 0,
        ends: bool = False,
    ) -> None:
        self.head, self.payload = frame
        self.stream, self.size, self.newlines = stream, size, newlines
        self.memory, self.ends = memory, ends


class FrameQueue:
    """A first-in-first-out queue of frames with a memory budget. Bytes without room are counted and become a gap frame.

    Not thread-safe: the tap's lock must be held.

    Args:
        budget: Bytes of the streams that may wait in memory.
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.size = 0
        """Bytes that wait."""
        self._frames: deque[_Frame] = deque()
        self._missed: dict[int, tuple[int, int]] = {}
        self._returned: Slice | None = None
        self._taken = Start(0, Totals())

    def __bool__(self) -> bool:
        return bool(self._frames) or self._returned is not None

    @property
    def start(self) -> Start:
        """Start of the oldest frame in the stream of frames."""
        return self._taken if self._returned is None else self._returned.start

    def has_room(self, size: int) -> bool:
        """Return whether `size` more bytes fit into memory."""
        return self.size + size <= self.budget

    def add(self, stream: int, arrived: float, data: bytes, newlines: int) -> None:
        """Add bytes of `stream`, or count them where they have no room."""
        if not self.has_room(len(data)):
            size, lines = self._missed.get(stream, (0, 0))
            self._missed[stream] = size + len(data), lines + newlines
            return
        self._add_gap(stream, arrived)
        block = frames.block(stream, arrived, data)
        self._frames.append(_Frame(block, stream, len(data), newlines, memory=len(data)))
        self.size += len(data)

    def add_end(self, time: float, status: int | None) -> None:
        """Add the end of the job."""
        self._frames.append(_Frame(frames.end(time, status), ends=True))

    def add_close(self, time: float) -> None:
        """Add gaps for all bytes that had no room, and the last frame."""
        for stream in list(self._missed):
            self._add_gap(stream, time)
        self._frames.append(_Frame(frames.close()))

    def pop(self) -> Slice | None:
        """Remove and return the oldest frames, about `SLICE_BYTES`; None where the queue is empty."""
        if self._returned is not None:
            piece, self._returned = self._returned, None
            self.size -= len(piece.data)
            return piece
        if not self._frames:
            return None
        parts: list[bytes] = []
        size, start, ended = 0, self._taken, False
        totals = start.totals
        # 256 KB are written, moved and kept together.
        while self._frames and size < (256 << 10):
            frame = self._frames.popleft()
            parts += (frame.head, frame.payload)
            size += len(frame.head) + len(frame.payload)
            if frame.stream >= 0:
                totals = totals.plus(frame.stream, frame.size, frame.newlines)
            self.size -= frame.memory
            ended = ended or frame.ends
        self._taken = Start(start.position + size, totals)
        return Slice(b"".join(parts), start, totals, ended)

    def give_back(self, piece: Slice) -> None:
        """Put back what `take` returned last."""
        self._returned = piece
        self.size += len(piece.data)

    def _add_gap(self, stream: int, arrived: float) -> None:
        if stream in self._missed:
            size, newlines = self._missed.pop(stream)
            self._frames.append(_Frame(frames.gap(stream, arrived, size, newlines), stream, size, newlines))
