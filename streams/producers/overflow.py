"""Frames of a pipe on disk: what has no room in memory while the shipping process is slow, and at the end what it has not read.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress

from .progress import Totals
from .rest import HEAD_BYTES, Rest, Start


class Slice:
    """Whole frames, as bytes.

    Attributes:
        start: Where they begin in the stream of frames.
        end: The totals behind them.
        ended: Whether the end of the job is among them.
    """

    __slots__ = ("data", "end", "ended", "start")

    def __init__(self, data: bytes, start: Start, end: Totals, ended: bool) -> None:
        self.data, self.start, self.end, self.ended = data, start, end, ended


class Overflow:
    """A first-in-first-out queue of slices in one file of `rest`. Refuses, and never raises while it writes, where the disk does.

    `write`, `read` and `drop_files` use the disk, which may hang: the tap calls them without its lock. `add` and `remove_first` change
    what is in the queue, with the lock. So a fork under the lock always sees a whole queue, and may repeat a write that was under way.

    Args:
        budget: Bytes that the file may take.
    """

    def __init__(self, budget: int) -> None:
        self.rest: Rest | None = None
        """Directory of the file; None if there is none."""
        self.budget = budget
        self.refuses = False
        """Whether a slice was refused since the file was empty."""
        self.keeps = False
        """Whether a file whose slices are all read stays."""
        self._file: int | None = None
        self._begins = 0
        self._start = self._end = HEAD_BYTES
        self._slices: deque[tuple[int, Start, Totals, bool]] = deque()
        self._path = ""
        self._read_files: list[tuple[int, str]] = []

    @property
    def size(self) -> int:
        """Bytes that were not read."""
        return self._end - self._start

    @property
    def bytes_on_disk(self) -> int:
        """Bytes of the file."""
        return self._end

    @property
    def first(self) -> int | None:
        """The position at which the file begins; None where there is none."""
        return None if self._file is None else self._begins

    @property
    def next(self) -> Start | None:
        """Start of the oldest unread slice."""
        return self._slices[0][1] if self._slices else None

    @property
    def descriptors(self) -> list[int]:
        """Descriptors that a process needs which goes on with it."""
        lock = None if self.rest is None else self.rest.lock
        return [each for each in (self._file, lock) if each is not None]

    def write(self, piece: Slice) -> bool:
        """Write `piece` behind the others; it counts once `add` is called. False where the disk or the budget does not allow it."""
        if self.rest is None or self._end + len(piece.data) > self.budget:
            return False
        try:
            if self._file is None:
                file, self._path = self.rest.new_file(piece.start)
                self._begins, self._file = piece.start.position, file
            # A part that was written before the disk was full is a valid beginning, and a reader goes on from there.
            return os.pwrite(self._file, piece.data, self._end) == len(piece.data)
        except OSError:
            return False

    def add(self, piece: Slice) -> None:
        """Count `piece`, which was written."""
        self._slices.append((len(piece.data), piece.start, piece.end, piece.ended))
        self._end += len(piece.data)

    def read(self) -> Slice:
        """Return the oldest slice, which stays until `remove_first` is called. Raises `OSError` where the disk fails."""
        assert self._file is not None
        size, start, end, ended = self._slices[0]
        data = os.pread(self._file, size, self._start)
        if len(data) < size:
            raise OSError("expected the slice that was written")
        return Slice(data, start, end, ended)

    def remove_first(self) -> None:
        """Remove the oldest slice. Call `drop_files` afterwards."""
        self._start += self._slices.popleft()[0]
        if not self.size:
            assert self._file is not None
            self._read_files.append((self._file, self._path))
            self._file = None
            self._start = self._end = HEAD_BYTES

    def drop_files(self) -> None:
        """Remove the files in which nothing is left."""
        while self._read_files:
            file, path = self._read_files.pop()
            os.close(file)
            if not self.keeps:
                with suppress(OSError):
                    os.unlink(path)  # noqa: PTH108
