"""The tap's thread: writes the queue to the shipping process, and moves it to disk where that process is slow.

What was written is kept until the shipping process has it safe (`progress`). If that process dies, another is started and gets it again.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from .frame_queue import FrameQueue
from .overflow import Overflow, Slice
from .progress import Progress
from .rest import Rest, Start
from .unsafe_slices import UnsafeSlices

WINDOW_BYTES = 1 << 20
"""Bytes that are written, beyond those that memory may hold, before the shipping process must have some of them safe."""
LOOK_SECONDS = 1.0
"""How often the shipping process is checked while it has something that is not safe."""
RESTART_SECONDS = (0.05, 60.0)
"""Pause before a shipping process that ended is started again, and the longest: it doubles each time."""


class Budgets(NamedTuple):
    """Bytes to keep in memory (twice: before they are written, and until they are safe) and on disk."""

    memory: int = 16 << 20
    disk: int = 512 << 20


class Feeder:
    """What the tap has, and the work of its thread.

    Every change of what it has is made under `changed` and is complete when the lock is released; the disk is used without the lock.
    So a fork under the lock copies a whole state, wherever the thread is: see `go_on_after_fork`.
    """

    def __init__(
        self,
        pipe: int,
        make_rest: Callable[[], Rest],
        progress: Progress,
        budgets: Budgets,
        restart: Callable[[Start], int] | None,
    ) -> None:
        self.changed = threading.Condition(threading.Lock())
        """Notified of each change that someone waits for. Holds the lock of all attributes."""
        self.pipe: int | None = pipe
        self.queue = FrameQueue(budgets.memory)
        self.unsafe = UnsafeSlices()
        self.overflow = Overflow(budgets.disk)
        self.gone = False
        """True while there is no shipping process."""
        self.closing = False
        """True once nothing is added to the queue any more."""
        self.leaving = False
        """True once what is not safe must go to disk."""
        self.stopped = False
        """True once the thread must not change anything any more."""
        self.left = False
        """True once `write_rest` is done."""
        self.leave_at: float | None = None
        """When the thread leaves on disk what was written and is not safe, on the monotonic clock; None: when `leaving` is set."""
        self.opened = False
        """True once the directory on disk was made, or refused."""
        self.lost_after: Start | None = None
        """Where begins what found no room on disk; None where all of it is there. Valid once `left` is true."""
        self._progress = progress
        self._budgets = budgets
        self._make_rest: Callable[[], Rest] | None = make_rest
        self._restart = restart
        self._unread = Overflow(budgets.disk)
        self._kept_until = 0
        self._moving: Slice | None = None
        self._current = memoryview(b"")
        self._stored = b""
        self._pause = RESTART_SECONDS[0]
        self._started = time.monotonic()
        self._restart_at = 0.0

    # --- with the lock ------------------------------------------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """True where all that passed is safe."""
        self.unsafe.release(self._progress)
        return not (self.unsafe or self.overflow.size or self.queue or self._moving)

    @property
    def left_to_write(self) -> bool:
        """True where something was not written to the shipping process."""
        return bool(self._current or self.unsafe.unwritten or self.overflow.size or self.queue or self._moving)

    @property
    def bytes_to_write(self) -> int:
        """Bytes that were not written to the shipping process."""
        return len(self._current) + self.overflow.size + self.queue.size

    @property
    def front(self) -> Start:
        """Where begins what is not safe."""
        return self.unsafe.start or self.overflow.next or (self._moving.start if self._moving else self.queue.start)

    @property
    def descriptors(self) -> set[int]:
        """Descriptors that a process needs which goes on after a fork."""
        pipe = [] if self.pipe is None else [self.pipe]
        return {*self.overflow.descriptors, *self._unread.descriptors, *pipe}

    def close_pipe(self) -> None:
        """Let the shipping process read to the end of what was written."""
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None

    def go_on_after_fork(self) -> None:
        """Take over in a forked process, whose copy of the state has no thread."""
        self.stopped = self.leaving = False
        if not self.opened:
            self._make_rest = None  # the other process may still be making it
        if self._moving is not None:
            # The other process may still be writing it, at the end of the file: nothing else may be written there.
            self.queue.give_back(self._moving)
            self._moving = None
            self.overflow.refuses = True

    def leave_after_fork(self) -> None:
        """Take over in a forked process that writes what is left to disk. It starts no other shipping process."""
        refuses = self.overflow.refuses
        self.go_on_after_fork()
        self.overflow.refuses = refuses  # what was being written is written first, at the same place
        self._restart, self.overflow.keeps = None, True
        self.leave_at = None

    def start_another(self) -> None:
        """Start a shipping process that reads what is on disk: it finds nothing in its pipe. May raise `OSError`."""
        if self._restart is not None and self.overflow.rest is not None:
            os.close(self._restart(self.front))

    # --- the thread ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Write what is queued until all of it is written and nothing follows."""
        self._open_rest()
        while not self._done():
            self._store()
            if self.pipe is None:
                self._start_again()
            elif self._choose():
                self._write()
                continue
            self._spill_if_half_full()
            self._wait()
        self._store()
        if self._must_leave():
            self.write_rest()

    def write_rest(self) -> None:
        """Write what is in memory to disk, in order and as far as it goes, and set `lost_after`."""
        self._store()
        with self.changed:
            # The beginning of the file, where there is one, was read into memory and is still on disk.
            pieces = [
                each for each in self.unsafe.before(self.overflow.first) if each.start.position >= self._kept_until
            ]
            self._unread.rest = self.overflow.rest
            self._unread.budget = self._budgets.disk - self.overflow.bytes_on_disk
        lost = next((each.start for each in pieces if not self._keep_unsafe(each)), None)
        with self.changed:
            self.overflow.budget = self._budgets.disk - self._unread.bytes_on_disk
        if lost is None:
            while self._spill_one():
                pass
        with self.changed:
            if not self.stopped:
                self.lost_after = lost or (self.queue.start if self.queue else None)
                self.left = True
        self._store()

    def _done(self) -> bool:
        with self.changed:
            self.unsafe.release(self._progress)
            written = self.closing and (self.pipe is None or not self.left_to_write)
            return self.stopped or self.leaving or written

    def _must_leave(self) -> bool:
        """Wait until `leave_at`, unless all is safe before, and return whether something must go to disk."""
        with self.changed:
            self.changed.notify_all()
            if self.leave_at is not None:
                self.changed.wait_for(lambda: self.leaving or self.stopped, self.leave_at - time.monotonic())
                self.leaving = self.leaving or not self.settled
            return self.leaving and not self.stopped

    def _wait(self) -> None:
        """Wait until there is something to do, and check that the shipping process is there."""
        with self.changed:
            timeout: float | None = None
            if self.pipe is None:
                timeout = min(max(self._restart_at - time.monotonic(), 0.001), LOOK_SECONDS)
            elif self.left_to_write:
                timeout = 0.005  # the shipping process has much that is not safe
            elif self.unsafe:
                timeout = LOOK_SECONDS
            if not (self.stopped or self.leaving or (self.closing and not self.left_to_write)):
                self.changed.wait(timeout)
            if self.pipe is not None and not self.stopped:
                poller = select.poll()
                poller.register(self.pipe, 0)
                if poller.poll(0):
                    self._let_go_of_shipping()

    def _choose(self) -> bool:
        """Choose what to write next: what another shipping process had, then the file, then memory. False where there is nothing."""
        with self.changed:
            if self._current:
                return True
            if self.stopped:
                return False
            if not self.overflow.size:
                self.overflow.refuses = False
            piece = self.unsafe.next_unwritten()
            if piece is None:
                if self.unsafe.size > self._budgets.memory + WINDOW_BYTES:
                    return False
                if not self.overflow.size:
                    piece = self.queue.take()
                    if piece is None:
                        return False
                    self.unsafe.add(piece)
                    self.changed.notify_all()
            if piece is not None:
                self._current = memoryview(piece.data)
                return True
        return self._read_back()

    def _read_back(self) -> bool:
        """Choose the oldest slice on disk. False where the disk fails: what is on it is left to others, what follows is counted."""
        try:
            piece = self.overflow.read()
        except OSError:
            with self.changed:
                if not self.stopped:
                    self.close_pipe()
                    self._restart = None
            return False
        with self.changed:
            if self.stopped:
                return False
            self.overflow.remove_first()
            self.unsafe.add(piece)
            self._current = memoryview(piece.data)
        self.overflow.drop_files()
        return True

    def _write(self) -> None:
        with self.changed:
            if self.stopped or self.pipe is None:
                return
            try:
                self._current = self._current[os.write(self.pipe, self._current) :]
            except BlockingIOError:
                poller = select.poll()
                poller.register(self.pipe, select.POLLOUT)
            except OSError:
                self._let_go_of_shipping()
                return
            else:
                return
        self._spill_if_half_full()
        # Not longer: a job that prints 2 GB/s fills what is left of memory in a few milliseconds.
        poller.poll(2)

    def _let_go_of_shipping(self) -> None:
        """The shipping process is gone. The pass-through goes on, and keeps what is not safe for another one."""
        self.gone = True
        self.close_pipe()
        self._current = memoryview(b"")
        self.unsafe.unwritten = 0
        now = time.monotonic()
        if now - self._started > RESTART_SECONDS[1]:
            self._pause = RESTART_SECONDS[0]
        self._restart_at = now + self._pause
        self._pause = min(2 * self._pause, RESTART_SECONDS[1])

    def _start_again(self) -> None:
        with self.changed:
            if self.stopped or self._restart is None or time.monotonic() < self._restart_at:
                return
            self.unsafe.release(self._progress)
            try:
                pipe = self._restart(self.front)
            except OSError:
                self._restart_at = time.monotonic() + RESTART_SECONDS[1]
                return
            os.set_blocking(pipe, False)
            self.pipe, self.gone, self._started = pipe, False, time.monotonic()
            self.unsafe.write_again()

    def _spill_if_half_full(self) -> None:
        """Move memory to disk, as far as the disk takes it, where it is half full."""
        if self.queue.size > self.queue.budget // 2:
            while self._spill_one():
                pass

    def _spill_one(self) -> bool:
        """Move one slice from memory to disk. False where there is none, where it is refused, or where the thread must stop."""
        with self.changed:
            if self.stopped or self.overflow.refuses or (piece := self.queue.take()) is None:
                return False
            self._moving = piece
            self.changed.notify_all()
        written = self.overflow.write(piece)
        with self.changed:
            if self.stopped:
                return False
            self._moving = None
            self.overflow.refuses = not written
            if written:
                self.overflow.add(piece)
            else:
                self.queue.give_back(piece)
        return written

    def _keep_unsafe(self, piece: Slice) -> bool:
        """Write a slice that the shipping process had to the file for those. False where it is refused, or the thread must stop."""
        if self.stopped or not self._unread.write(piece):
            return False
        with self.changed:
            if self.stopped:
                return False
            self._unread.add(piece)
            self._kept_until = piece.start.position + 1
        return True

    def _open_rest(self) -> None:
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

    def _store(self) -> None:
        """Store what passed, for the case that both processes are killed."""
        content = self._progress.passed_bytes
        if content != self._stored and self.overflow.rest is not None:
            with suppress(OSError):
                self.overflow.rest.store_passed(content)
                self._stored = content
