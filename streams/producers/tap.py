"""Copies of what passes through, on their way to the shipping process, without holding up the pass-through.

`put` appends to a bounded queue in memory. A thread feeds the pipe to the shipping process; where that falls behind, the thread
moves the queue to an unlinked file, up to a budget; where that is full too, or the disk hangs, `put` counts what it leaves out. It
waits only for a job that prints faster than memory is copied, and then for `PATIENCE` at most, once a standstill.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque

from . import frames
from .background import step_aside

PATIENCE = 0.05
"""Seconds for which `put` may wait for room. A job would have to print 16 MB faster than memory is moved to disk."""


class _Missed:
    """What had no room: bytes, and newlines in them."""

    __slots__ = ("newlines", "size")

    def __init__(self) -> None:
        self.size = self.newlines = 0


class _Overflow:
    """A first-in-first-out queue of bytes in an unlinked file. Refuses, and never raises, where the disk does."""

    def __init__(self, directory: str, budget: int) -> None:
        self._directory, self._budget = directory, budget
        self._file: int | None = None
        self._start = self._end = 0
        self.refuses = False
        """True from a refusal until the file is empty."""

    @property
    def size(self) -> int:
        return self._end - self._start

    @property
    def descriptors(self) -> list[int]:
        return [] if self._file is None else [self._file]

    def write(self, data: bytes) -> bool:
        self.refuses = True
        if self._end + len(data) > self._budget:
            return False
        try:
            if self._file is None:
                os.makedirs(self._directory, mode=0o700, exist_ok=True)  # noqa: PTH103  pathlib costs the start 5 ms
                name = f"{self._directory}/overflow-{os.getpid()}-{os.urandom(6).hex()}"
                self._file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                os.unlink(name)  # noqa: PTH108
            written = os.pwrite(self._file, data, self._end)
        except OSError:
            return False
        self.refuses = written < len(data)
        self._end += 0 if self.refuses else written
        return not self.refuses

    def read(self, size: int) -> bytes:
        if self._file is None or not self.size:
            return b""
        data = os.pread(self._file, min(size, self.size), self._start)
        self._start += len(data)
        if self._start == self._end:
            os.ftruncate(self._file, 0)
            self._start = self._end = 0
        return data


class Tap:
    """The queue and its thread.

    Args:
        pipe: Write end of the pipe to the shipping process; made non-blocking, closed by `close`.
        directory: Where the overflow file may stand.
        memory: Bytes to keep in memory.
        budget: Bytes to keep in the overflow file.
    """

    def __init__(self, pipe: int, directory: str, memory: int = 16 << 20, budget: int = 512 << 20) -> None:
        os.set_blocking(pipe, False)
        self._pipe = pipe
        self._memory = memory
        self._overflow = _Overflow(directory, budget)
        self._current = memoryview(b"")
        self._queue: deque[tuple[bytes, bytes]] = deque()
        self._queued = 0
        self._missed: dict[int, _Missed] = {}
        lock = threading.Lock()
        self._changed = threading.Condition(lock)
        self._moved = threading.Condition(lock)
        self._stuck = False
        self._closing = self._paused = False
        self._broken = False
        self._thread: threading.Thread | None = None

    @property
    def broken(self) -> bool:
        """True where the shipping process is gone: nothing is kept any more."""
        return self._broken

    def start(self) -> None:
        """Start the thread."""
        self._paused = False
        self._thread = threading.Thread(target=self._feed, name="tap", daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Stop the thread; what is queued stays. Needed around a fork."""
        with self._changed:
            self._paused = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def put(self, stream: int, arrived: float, data: bytes) -> None:
        """Queue `data`, or count it where there is no room. Waits `PATIENCE` at most, and once a standstill."""
        with self._changed:
            if self._broken:
                return
            if self._queued + len(data) > self._memory and not self._stuck:
                # Faster than this machine's memory can be moved to its disk. Once the thread does not keep even this pace, it is
                # not asked again until it moves.
                self._stuck = not self._moved.wait_for(lambda: self._queued + len(data) <= self._memory, PATIENCE)
            missed = self._missed.get(stream)
            if self._queued + len(data) > self._memory:
                missed = self._missed.setdefault(stream, _Missed())
                missed.size += len(data)
                missed.newlines += data.count(b"\n")
                return
            if missed is not None:
                self._queue.append(frames.gap(stream, arrived, missed.size, missed.newlines))
                del self._missed[stream]
            self._queue.append(frames.block(stream, arrived, data))
            self._queued += len(data)
            self._changed.notify()

    def end(self, time: float, status: int | None) -> None:
        """Queue the news that the job has ended (see `frames.End`), behind what it printed."""
        with self._changed:
            if not self._broken:
                self._queue.append(frames.end(time, status))
                self._changed.notify()

    def close(self, timeout: float, linger: float = 0.0) -> int:
        """Hand over what is queued, for at most `timeout` seconds, and close the pipe.

        What is left then is handed over by a process in the background, within `linger` seconds.

        Returns:
            The number of bytes that nobody hands over any more; 0 where all went well.
        """
        with self._changed:
            for stream, missed in self._missed.items():
                self._queue.append(frames.gap(stream, time.time(), missed.size, missed.newlines))
            self._missed.clear()
            self._closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                with self._changed:
                    self._paused = True
                self._thread.join(0.1)  # not longer: it may wait for a disk that hangs
                if linger and not self._thread.is_alive():
                    self._hand_over_in_background(linger)
                    return 0
        os.close(self._pipe)
        return self._left

    @property
    def _left(self) -> int:
        return self._queued + self._overflow.size + len(self._current)

    def _hand_over_in_background(self, linger: float) -> None:
        if os.fork() == 0:
            try:
                step_aside(self._pipe, *self._overflow.descriptors)
                self.start()
                self.close(linger)
            finally:
                os._exit(0)
        os.close(self._pipe)

    def _feed(self) -> None:
        try:
            while self._next():
                self._write()
        except OSError:
            # The shipping process is gone. The pass-through goes on without it.
            with self._changed:
                self._broken = True
                self._current = memoryview(b"")
                self._queue.clear()
                self._queued = 0

    def _next(self) -> bool:
        """Choose what to write next: the rest of what was begun, then the file, then memory. False at the end."""
        with self._changed:
            while not (self._paused or self._closing or self._current or self._queue or self._overflow.size):
                self._changed.wait()
            if self._paused:
                return False
        if not self._overflow.size:
            self._overflow.refuses = False
        if not self._current:
            self._current = memoryview(self._overflow.read(1 << 20) or self._take(1 << 20))
        return bool(self._current)

    def _write(self) -> None:
        try:
            written = os.write(self._pipe, self._current)
            self._current = self._current[written:]
        except BlockingIOError:
            if self._queued > self._memory // 2:
                self._spill()
            poller = select.poll()
            poller.register(self._pipe, select.POLLOUT)
            # Not longer: a job that prints 2 GB/s fills what is left of memory in a few milliseconds.
            poller.poll(2)

    def _take(self, limit: int) -> bytes:
        """Take frames of about `limit` bytes from memory."""
        parts: list[bytes] = []
        taken = payload = 0
        with self._changed:
            while self._queue and taken < limit:
                head, data = self._queue.popleft()
                parts += (head, data)
                taken += len(head) + len(data)
                payload += len(data)
            self._queued = max(0, self._queued - payload)
            self._stuck = False
            self._moved.notify_all()
        return b"".join(parts)

    def _spill(self) -> None:
        """Move memory to the file, as far as the file takes it."""
        while not self._overflow.refuses and (data := self._take(1 << 20)):
            if not self._overflow.write(data):
                self._put_back(data)
                return

    def _put_back(self, data: bytes) -> None:
        with self._changed:
            self._queue.appendleft((b"", data))
            self._queued += len(data)
