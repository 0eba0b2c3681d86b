"""Bytes that passed and are not safe yet: in memory, and beyond its limit on disk.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from .frame_queue import FrameQueue
from .overflow import Overflow, Slice
from .progress import Progress
from .rest import Rest, Start
from .unsafe_slices import UnsafeSlices


class Budgets(NamedTuple):
    """Bytes to keep in memory (twice: before they are written, and until they are safe) and on disk."""

    memory: int = 16 << 20
    disk: int = 512 << 20


class Backlog:
    """The slices that were written to the shipping process, then those in a file, then the queue in memory.

    Every change is made under `changed` and is complete when the lock is released; the disk is used without the lock, by one
    thread. So a fork under the lock copies a whole state, wherever the thread is: see `go_on_after_fork`.
    """

    def __init__(self, make_rest: Callable[[], Rest], progress: Progress, budgets: Budgets) -> None:
        self.changed = threading.Condition(threading.Lock())
        """Notified of each change that someone waits for. Holds the lock of all attributes, and of those of the `Feeder`."""
        self.queue = FrameQueue(budgets.memory)
        self.unsafe = UnsafeSlices()
        self.overflow = Overflow(budgets.disk)
        self.stopped = False
        """True once the thread must not change anything any more."""
        self.opened = False
        """True once the directory on disk was made, or refused."""
        self.rest_written = False
        """True once `write_rest` is done."""
        self.lost_after: Start | None = None
        """Start of the bytes without room on disk; None if all are there. Valid once `rest_written` is true."""
        self._progress = progress
        self._budgets = budgets
        self._make_rest: Callable[[], Rest] | None = make_rest
        self._unread = Overflow(budgets.disk)
        self._unread_until = 0
        self._moving: Slice | None = None
        self._stored = b""

    # --- with the lock ------------------------------------------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """True where all that passed is safe."""
        self.unsafe.release(self._progress)
        return not (self.unsafe or self.overflow.size or self.queue or self._moving)

    @property
    def written(self) -> bool:
        """True where everything was written to the shipping process."""
        return self.unsafe.written and not (self.overflow.size or self.queue or self._moving)

    @property
    def bytes_to_write(self) -> int:
        """Bytes that were not written to the shipping process."""
        return len(self.unsafe.current) + self.overflow.size + self.queue.size

    @property
    def front(self) -> Start:
        """Start of the bytes that are not safe."""
        self.unsafe.release(self._progress)
        return self.unsafe.start or self.overflow.next or (self._moving.start if self._moving else self.queue.start)

    @property
    def descriptors(self) -> list[int]:
        """Descriptors that a process needs which goes on after a fork."""
        return self.overflow.descriptors + self._unread.descriptors

    def go_on_after_fork(self, *, leaving: bool) -> None:
        """Take over in a forked process, whose copy of the state has no thread.

        `leaving`: It writes what is left to disk, and keeps there what it reads back.
        """
        self.stopped, self.overflow.keeps = False, leaving
        if not self.opened:
            self._make_rest = None  # the other process may still be making it
        if self._moving is not None:
            self.queue.give_back(self._moving)
            self._moving = None
            # The other process may still be writing it, at the end of the file: nothing else may be written there.
            self.overflow.refuses = self.overflow.refuses or not leaving

    # --- the thread ---------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Make the directory on disk."""
        if self.opened or self._make_rest is None:
            return
        rest: Rest | None = None
        with suppress(OSError):
            rest = self._make_rest()
        with self.changed:
            self.overflow.rest, self.opened = rest, True
            if rest is not None:
                self._progress.set_has_rest()
            self.changed.notify_all()

    def choose(self) -> bool:
        """Choose what to write next: what another shipping process had, then the file, then memory. False where there is nothing.

        Raises:
            OSError: The file cannot be read.
        """
        with self.changed:
            if self.stopped:
                return False
            self.unsafe.release(self._progress)
            if not self.overflow.size:
                self.overflow.refuses = False
            if self.unsafe.choose():
                return True
            # At most 1 MB is written beyond what memory may hold before the shipping process must have some of it safe.
            if self.unsafe.size > self._budgets.memory + (1 << 20):
                return False
            if not self.overflow.size:
                piece = self.queue.pop()
                if piece is not None:
                    self.unsafe.add(piece)
                    self.changed.notify_all()
                return piece is not None
        piece = self.overflow.read()
        with self.changed:
            if self.stopped:
                return False
            self.overflow.remove_first()
            self.unsafe.add(piece)
        self.overflow.drop_files()
        return True

    def spill_if_half_full(self) -> None:
        """Move memory to disk, as far as the disk takes it, where it is half full."""
        if self.queue.size > self.queue.budget // 2:
            self._spill()

    def write_rest(self) -> None:
        """Write what is in memory to disk, in order and as far as it goes, and set `lost_after`."""
        self.store_passed()
        with self.changed:
            # The beginning of the file, where there is one, was read into memory and is still on disk.
            pieces = [
                each for each in self.unsafe.before(self.overflow.first) if each.start.position >= self._unread_until
            ]
            self._unread.rest = self.overflow.rest
            self._unread.budget = self._budgets.disk - self.overflow.bytes_on_disk
        lost = next((each.start for each in pieces if not self._write_unread(each)), None)
        with self.changed:
            self.overflow.budget = self._budgets.disk - self._unread.bytes_on_disk
        if lost is None:
            self._spill()
        with self.changed:
            if not self.stopped:
                self.lost_after = lost or (self.queue.start if self.queue else None)
                self.rest_written = True
        self.store_passed()

    def store_passed(self) -> None:
        """Store what passed, for the case that both processes are killed."""
        content = self._progress.passed_bytes
        if content != self._stored and self.overflow.rest is not None:
            with suppress(OSError):
                self.overflow.rest.store_passed(content)
                self._stored = content

    def _spill(self) -> None:
        """Move memory to disk, until it is empty, the disk refuses a slice, or the thread must stop."""
        written = True
        while written:
            with self.changed:
                if self.stopped or self.overflow.refuses or (piece := self.queue.pop()) is None:
                    return
                self._moving = piece
                self.changed.notify_all()
            written = self.overflow.write(piece)
            with self.changed:
                if self.stopped:
                    return
                self._moving = None
                self.overflow.refuses = not written
                if written:
                    self.overflow.add(piece)
                else:
                    self.queue.give_back(piece)

    def _write_unread(self, piece: Slice) -> bool:
        """Write a slice that the shipping process had to the file for those. False where it is refused, or the thread must stop."""
        if self.stopped or not self._unread.write(piece):
            return False
        with self.changed:
            if self.stopped:
                return False
            self._unread.add(piece)
            self._unread_until = piece.start.position + 1
        return True
