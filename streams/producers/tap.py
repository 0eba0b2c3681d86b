"""Copies of what passes through, on their way to the shipping process, without holding up the pass-through.

`put` appends to a bounded queue in memory (`frame_queue`). A thread writes the queue to the shipping process (`feeder`), and moves it
to disk where that process is slow (`backlog`). Where the disk is full too, or hangs, `put` counts what it leaves out. It waits only
for a job that prints faster than memory is copied, and then for `PATIENCE` at most, once a standstill.

At the end of the job, `close` hands over what is queued and `leave` writes to disk what is not safe. A process in the background
goes on with what they do not finish in time.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from .background import step_aside
from .backlog import Backlog, Budgets
from .feeder import Feeder
from .progress import Progress
from .rest import Rest, Start

PATIENCE = (5, 0.01)
"""Number of waits of `put` for room, and seconds of each.

A job would have to print 16 MB faster than memory is moved to disk. Several waits, because one may pass while this process gets no
processor or is stopped: its thread then had no time to make room.
"""


class Tap:
    """The queue and its thread.

    Args:
        pipe: Write end of the pipe to the shipping process; made non-blocking, closed by `close`.
        make_rest: Makes the directory for what is left; called in the thread. May raise `OSError`.
        progress: What passed, and what is safe.
        budgets: Bytes to keep.
        restart: Starts another shipping process, which gets all from a place on, and returns the pipe to it. May raise `OSError`.
    """

    def __init__(
        self,
        pipe: int,
        make_rest: Callable[[], Rest],
        progress: Progress,
        budgets: Budgets,
        restart: Callable[[Start], int] | None = None,
    ) -> None:
        os.set_blocking(pipe, False)
        self._backlog = Backlog(make_rest, progress, budgets)
        self._feeder = Feeder(pipe, self._backlog, restart)
        self._queue = self._backlog.queue
        self._changed = self._backlog.changed
        self._progress = progress
        self._stuck_at: Start | None = None
        self._thread: threading.Thread | None = None

    @property
    def broken(self) -> bool:
        """True while there is no shipping process."""
        return self._feeder.gone

    @property
    def bytes_to_write(self) -> int:
        """Bytes that were not handed over to the shipping process."""
        return self._backlog.bytes_to_write

    def start(self) -> None:
        """Start the thread."""
        self._run(self._feeder.run)

    def put(self, stream: int, arrived: float, data: bytes) -> None:
        """Queue `data`, or count it where there is no room. Waits as `PATIENCE` states at most, and once a standstill."""
        newlines = data.count(b"\n")
        with self._changed:
            self._progress.add_passed(stream, len(data), newlines)
            if not self._queue.has_room(len(data)) and self._stuck_at != self._queue.start:
                # Faster than this machine's memory can be moved to its disk. Once the thread does not keep even this pace, it is
                # not waited for again until it moves.
                times, seconds = PATIENCE
                waits = (self._changed.wait_for(lambda: self._queue.has_room(len(data)), seconds) for _ in range(times))
                self._stuck_at = None if any(waits) else self._queue.start
            self._queue.add(stream, arrived, data, newlines)
            self._changed.notify_all()

    def end(self, time: float, status: int | None) -> None:
        """Queue the end of the job (see `frames.End`), behind what it printed."""
        with self._changed:
            self._queue.add_end(time, status)
            self._changed.notify_all()

    def close(self, timeout: float) -> bool:
        """Hand over what is queued, for at most `timeout` seconds. False where that was not enough; then call `leave`."""
        feeder = self._feeder
        with self._changed:
            if not feeder.closing:
                self._queue.add_close(time.time())
                feeder.closing = True
                # The thread writes the rest to disk while the job's end waits for the news that nothing is left.
                feeder.leave_at = time.monotonic() + timeout / 2
            self._changed.notify_all()
            self._changed.wait_for(lambda: feeder.pipe is None or self._backlog.written, timeout)
            handed_over = self._backlog.written
            if handed_over:
                feeder.close_pipe()
            return handed_over

    def note_gone(self) -> None:
        """Note that the shipping process ended early. Call it after `close`."""
        with self._changed:
            self._feeder.gone = True
            self._feeder.close_pipe()

    def fork(self) -> int:
        """Fork this process, with the lock. The tap goes on in the child once it calls `start`; here it does nothing any more."""
        pid = self._fork()
        if pid == 0:
            self._backlog.go_on_after_fork(leaving=False)
        return pid

    def leave(self, linger: float = 0.0) -> int:
        """Write what is not safe to disk, for the shipping process to read later, or for another one where it is gone.

        What is not written within `LEAVE_SECONDS` is written by a process in the background. What the disk does not take is handed
        over by it, within `linger` seconds.

        Returns:
            The number of lines that are given up; 0 where the shipping process may still get them.
        """
        with self._changed:
            if self._backlog.settled:
                self._backlog.stopped = True
                self._changed.notify_all()
                return 0
            self._feeder.leaving = True
            written = self._backlog.rest_written
            self._changed.notify_all()
        if not written:
            if self._thread is None or not self._thread.is_alive():
                self._run(self._backlog.write_rest)
            assert self._thread is not None
            # The end of a job waits 0.01 s for the disk: 10 MB where its cache takes 1 GB/s.
            self._thread.join(0.01)
        with self._changed:
            self._backlog.stopped = True
            written, lost_after = self._backlog.rest_written, self._backlog.lost_after
            gone, has_pipe = self._feeder.gone, self._feeder.pipe is not None
        with suppress(OSError):
            if not written or (lost_after is not None and has_pipe):
                if self._fork() == 0:
                    self._leave_in_background(linger)
            elif gone:
                self._feeder.start_another()
        if not written or not gone or lost_after is None:
            return 0
        return sum(self._progress.passed.newlines) - sum(lost_after.totals.newlines)

    def _run(self, target: Callable[[], None]) -> None:
        self._thread = threading.Thread(target=target, name="tap", daemon=True)
        self._thread.start()

    def _fork(self) -> int:
        """Fork while the thread changes nothing. It is not waited for: a busy host or a disk that hangs may hold it up for long."""
        with self._changed:
            # A fork waits 0.02 s for the directory on disk. Without it the rest stays in memory.
            self._changed.wait_for(lambda: self._backlog.opened, 0.02)
            self._backlog.stopped = True
            self._changed.notify_all()
            return os.fork()

    def _leave_in_background(self, linger: float) -> None:
        """Write the rest to disk, and hand over what is not there. Never returns."""
        try:
            # With the job's priority: the job is over, and until this is done the lines are in memory alone.
            pipe = self._feeder.pipe
            step_aside(*self._backlog.descriptors, *([] if pipe is None else [pipe]), nice=False)
            self._feeder.leave_after_fork()
            self._backlog.write_rest()
            if self._backlog.lost_after is not None and pipe is not None:
                self.start()
                self.close(linger)
        finally:
            os._exit(0)
