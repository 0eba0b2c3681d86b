"""The tap's thread: writes the backlog to the shipping process, and starts another one where that ends.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

from .backlog import Backlog
from .rest import Start

LOOK_SECONDS = 1.0
"""Interval of checks of the shipping process while it has unsafe bytes, in seconds."""
RESTART_SECONDS = (0.05, 60.0)
"""Pause before a shipping process that ended is started again, and the longest: it doubles each time."""


class Feeder:
    """The pipe to the shipping process. Its attributes change under the backlog's lock."""

    def __init__(self, pipe: int, backlog: Backlog, restart: Callable[[Start], int] | None) -> None:
        self.pipe: int | None = pipe
        self.gone = False
        """True while there is no shipping process."""
        self.closing = False
        """True once nothing is added to the queue any more."""
        self.leaving = False
        """True once what is not safe must go to disk."""
        self.leave_at: float | None = None
        """Time at which the thread stores unsafe bytes on disk, on the monotonic clock; None: when `leaving` is set."""
        self._backlog = backlog
        self._changed = backlog.changed
        self._restart = restart
        self._pause = RESTART_SECONDS[0]
        self._started = time.monotonic()
        self._restart_at = 0.0

    # --- with the lock ------------------------------------------------------------------------------------------------

    def close_pipe(self) -> None:
        """Let the shipping process read to the end of what was written."""
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None

    def leave_after_fork(self) -> None:
        """Take over in a forked process that writes what is left to disk. It starts no other shipping process."""
        self._backlog.go_on_after_fork(leaving=True)
        self.leaving = False
        self._restart = self.leave_at = None

    def start_another(self) -> None:
        """Start a shipping process that reads what is on disk: it finds nothing in its pipe. May raise `OSError`."""
        if self._restart is not None and self._backlog.overflow.rest is not None:
            os.close(self._restart(self._backlog.front))

    # --- the thread ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Write what is queued until all of it is written and nothing follows."""
        backlog = self._backlog
        backlog.open()
        while not self._done():
            backlog.store_passed()
            if self.pipe is None:
                self._start_again()
            elif self._choose():
                self._write()
                continue
            backlog.spill_if_half_full()
            self._wait()
        backlog.store_passed()
        if self._must_leave():
            backlog.write_rest()

    def _done(self) -> bool:
        with self._changed:
            all_written = self.closing and (self.pipe is None or self._backlog.written)
            return self._backlog.stopped or self.leaving or all_written

    def _must_leave(self) -> bool:
        """Wait until `leave_at`, unless all is safe before, and return whether something must go to disk."""
        backlog = self._backlog
        with self._changed:
            self._changed.notify_all()
            if self.leave_at is not None:
                self._changed.wait_for(lambda: self.leaving or backlog.stopped, self.leave_at - time.monotonic())
                self.leaving = self.leaving or not backlog.settled
            return self.leaving and not backlog.stopped

    def _wait(self) -> None:
        """Wait until there is something to do, and check that the shipping process is there."""
        backlog = self._backlog
        with self._changed:
            timeout: float | None = None
            if self.pipe is None:
                if self._restart is not None:
                    timeout = min(max(self._restart_at - time.monotonic(), 0.001), LOOK_SECONDS)
            elif not backlog.written:
                timeout = 0.005  # the shipping process has much that is not safe
            elif not backlog.settled:
                timeout = LOOK_SECONDS
            if not (backlog.stopped or self.leaving or (self.closing and backlog.written)):
                self._changed.wait(timeout)
            if self.pipe is not None and not backlog.stopped:
                poller = select.poll()
                poller.register(self.pipe, 0)
                if poller.poll(0):
                    self._let_go_of_shipping()

    def _choose(self) -> bool:
        """Choose what to write next. False where the disk fails: what is on it is left to others, what follows is counted."""
        try:
            return self._backlog.choose()
        except OSError:
            with self._changed:
                if not self._backlog.stopped:
                    self.close_pipe()
                    self._restart = None
            return False

    def _write(self) -> None:
        unsafe = self._backlog.unsafe
        with self._changed:
            if self._backlog.stopped or self.pipe is None:
                return
            try:
                unsafe.current = unsafe.current[os.write(self.pipe, unsafe.current) :]
            except BlockingIOError:
                poller = select.poll()
                poller.register(self.pipe, select.POLLOUT)
            except OSError:
                self._let_go_of_shipping()
                return
            else:
                return
        self._backlog.spill_if_half_full()
        # Not longer: a job that prints 2 GB/s fills what is left of memory in a few milliseconds.
        poller.poll(2)

    def _let_go_of_shipping(self) -> None:
        """The shipping process is gone. The pass-through goes on, and keeps what is not safe for another one."""
        self.gone = True
        self.close_pipe()
        self._backlog.unsafe.write_no_more()
        now = time.monotonic()
        if now - self._started > RESTART_SECONDS[1]:
            self._pause = RESTART_SECONDS[0]
        self._restart_at = now + self._pause
        self._pause = min(2 * self._pause, RESTART_SECONDS[1])

    def _start_again(self) -> None:
        backlog = self._backlog
        with self._changed:
            if backlog.stopped or self.closing or self._restart is None or time.monotonic() < self._restart_at:
                return
            try:
                pipe = self._restart(backlog.front)
            except OSError:
                self._restart_at = time.monotonic() + RESTART_SECONDS[1]
                return
            os.set_blocking(pipe, False)
            self.pipe, self.gone, self._started = pipe, False, time.monotonic()
            backlog.unsafe.write_again()
