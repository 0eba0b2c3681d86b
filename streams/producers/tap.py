"""Copies of what passes through, on their way to the shipping process, without holding up the pass-through.

`put` appends to a bounded queue in memory. A thread feeds the pipe to the shipping process, and keeps what it wrote until the
shipping process has it safe (`progress`): if that one dies, another is started and gets it again. Where the shipping process falls
behind, the thread moves the queue to a file, up to a budget; where that is full too, or the disk hangs, `put` counts what it leaves
out. It waits only for a job that prints faster than memory is copied, and then for `PATIENCE` at most, once a standstill.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from . import frames
from .background import step_aside
from .overflow import Overflow, Slice
from .progress import ENDED, Progress, Totals
from .rest import Rest, Start

PATIENCE = 0.05
"""Seconds for which `put` may wait for room. A job would have to print 16 MB faster than memory is moved to disk."""
SLICE_BYTES = 256 << 10
"""Bytes that are written, moved and kept together."""
WINDOW_BYTES = 1 << 20
"""Bytes that are written, beyond those that memory may hold, before the shipping process must have some of them safe."""
LOOK_SECONDS = 1.0
"""How often the shipping process is looked at while it has something that is not safe."""
RESTART_SECONDS = (0.05, 60.0)
"""Pause before a shipping process that ended is started again, and the longest: it doubles each time."""
LEAVE_SECONDS = 0.02
"""How long the end of a job may be held up so that what nobody read is written to disk; a process in the background writes the rest."""


class Budgets(NamedTuple):
    """Bytes to keep in memory (twice: before they are written, and until they are safe) and on disk."""

    memory: int = 16 << 20
    disk: int = 512 << 20


class _Missed:
    """What had no room: bytes, and newlines in them."""

    __slots__ = ("newlines", "size")

    def __init__(self) -> None:
        self.size = self.newlines = 0


class _Frame:
    """A frame, and how many bytes and newlines of `stream` it stands for; the stream of the job's end is -1."""

    __slots__ = ("ends", "head", "held", "newlines", "payload", "size", "stream")

    def __init__(self, frame: tuple[bytes, bytes], stream: int = -1, size: int = 0, newlines: int = 0) -> None:
        self.head, self.payload = frame
        self.stream, self.size, self.newlines = stream, size, newlines
        self.held = 0
        """Bytes of it that take room in memory."""
        self.ends = False
        """Whether it is the end of the job."""


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
        self._pipe: int | None = pipe
        self._make_rest: Callable[[], Rest] | None = make_rest
        self._progress = progress
        self._memory, self._budget = budgets
        self._restart = restart
        self._overflow = Overflow(budgets.disk)
        self._unread = Overflow(budgets.disk)
        self._queue: deque[_Frame] = deque()
        self._refused: Slice | None = None
        self._queued = 0
        self._missed: dict[int, _Missed] = {}
        self._taken = Start(0, Totals())
        self._unsafe: deque[Slice] = deque()
        self._unsafe_bytes = 0
        self._unwritten = 0
        self._current = memoryview(b"")
        self._stored = b""
        self._pause = RESTART_SECONDS[0]
        self._gone = False
        self._started = time.monotonic()
        self._restart_at = 0.0
        self._lost_after: Totals | None = None
        lock = threading.Lock()
        self._changed = threading.Condition(lock)
        self._moved = threading.Condition(lock)
        self._stuck = False
        self._closing = self._paused = False
        self._thread: threading.Thread | None = None

    @property
    def broken(self) -> bool:
        """True while there is no shipping process."""
        return self._gone

    @property
    def settled(self) -> bool:
        """True where all that passed is safe. Call it while the thread does not run."""
        self._release()
        return not (self._unsafe or self._overflow.size or self._refused or self._queue)

    def start(self) -> None:
        """Start the thread."""
        self._paused = False
        self._thread = threading.Thread(target=self._feed, name="tap", daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Stop the thread; what is queued stays. Needed around a fork."""
        self._stop_thread(None)

    def put(self, stream: int, arrived: float, data: bytes) -> None:
        """Queue `data`, or count it where there is no room. Waits `PATIENCE` at most, and once a standstill."""
        newlines = data.count(b"\n")
        with self._changed:
            self._progress.add_passed(stream, len(data), newlines)
            if self._queued + len(data) > self._memory and not self._stuck:
                # Faster than this machine's memory can be moved to its disk. Once the thread does not keep even this pace, it is
                # not asked again until it moves.
                self._stuck = not self._moved.wait_for(lambda: self._queued + len(data) <= self._memory, PATIENCE)
            missed = self._missed.get(stream)
            if self._queued + len(data) > self._memory:
                missed = self._missed.setdefault(stream, _Missed())
                missed.size += len(data)
                missed.newlines += newlines
                return
            if missed is not None:
                self._add_gap(stream, arrived, missed)
                del self._missed[stream]
            frame = _Frame(frames.block(stream, arrived, data), stream, len(data), newlines)
            frame.held = len(data)
            self._queue.append(frame)
            self._queued += len(data)
            self._changed.notify()

    def end(self, time: float, status: int | None) -> None:
        """Queue the news that the job has ended (see `frames.End`), behind what it printed."""
        with self._changed:
            frame = _Frame(frames.end(time, status))
            frame.ends = True
            self._queue.append(frame)
            self._changed.notify()

    def close(self, timeout: float) -> bool:
        """Hand over what is queued, for at most `timeout` seconds. False where that was not enough; then call `leave`."""
        with self._changed:
            if not self._closing:
                for stream, missed in self._missed.items():
                    self._add_gap(stream, time.time(), missed)
                self._missed.clear()
                self._queue.append(_Frame(frames.close()))
            self._closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout)
        handed_over = not (self._thread is not None and self._thread.is_alive()) and not self._left_to_write()
        if handed_over:
            self._close_pipe()
        return handed_over

    def note_gone(self) -> None:
        """Learn that the shipping process ended early. Call it after `close`."""
        self._gone = True
        self._close_pipe()

    def leave(self, linger: float = 0.0) -> int:
        """Write what is not safe to disk, for the shipping process to read later, or for another one where it is gone.

        What the time does not allow is written by a process in the background. What the budget does not allow is handed over by it,
        within `linger` seconds.

        Returns:
            The number of lines that are given up; 0 where the shipping process may still get them.
        """
        if not self._stop_thread(LEAVE_SECONDS):
            return 0  # it waits for a disk that hangs
        if self.settled:
            return 0
        self._paused = False
        writer = threading.Thread(target=self._write_rest, name="rest", daemon=True)
        writer.start()
        writer.join(LEAVE_SECONDS)
        interrupted = writer.is_alive()
        if interrupted:
            self._paused = True
            writer.join(LEAVE_SECONDS)
            if writer.is_alive():
                return 0
        with suppress(OSError):
            if interrupted or (self._lost_after is not None and self._pipe is not None):
                self._go_on_in_background(linger)
            elif self._gone:
                self._start_another()
        if interrupted or not self._gone or self._lost_after is None:
            return 0
        return sum(self._progress.passed.newlines) - sum(self._lost_after.newlines)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _stop_thread(self, timeout: float | None) -> bool:
        with self._changed:
            self._paused = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout)
            return not self._thread.is_alive()
        return True

    def _write_rest(self) -> None:
        """Write what is in memory to disk, in order and as far as it goes, and note from where on there is more."""
        first = self._overflow.first
        # The beginning of the file, where there is one, was read into memory and is still on disk.
        pieces = [each for each in self._unsafe if first is None or each.start.position < first]
        self._unread.rest = self._overflow.rest
        self._unread.budget = self._budget - self._overflow.bytes_on_disk
        for piece in pieces[self._unread.count :]:
            if self._paused or not self._unread.write(piece):
                self._lost_after = piece.start.totals
                return
        self._overflow.budget = self._budget - self._unread.bytes_on_disk
        self._spill()
        self._lost_after = None
        if self._refused is not None or self._queue:
            self._lost_after = self._taken.totals if self._refused is None else self._refused.start.totals

    def _go_on_in_background(self, linger: float) -> None:
        """Write the rest, and hand over what is not on disk."""
        if os.fork() == 0:
            try:
                keep = [*self._overflow.descriptors, *self._unread.descriptors]
                step_aside(*({*keep} if self._pipe is None else {*keep, self._pipe}))
                self._paused, self._restart, self._overflow.keeps = False, None, True
                self._write_rest()
                if self._lost_after is not None and self._pipe is not None:
                    self.start()
                    self.close(linger)
            finally:
                os._exit(0)

    def _start_another(self) -> None:
        """Start a shipping process that reads what is on disk: it finds nothing in its pipe."""
        if self._restart is not None and self._overflow.rest is not None:
            os.close(self._restart(self._front))

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _feed(self) -> None:
        self._open_rest()
        while not self._done():
            self._store()
            if self._pipe is None:
                self._start_again()
            elif self._current or self._choose():
                self._write()
                continue
            if self._queued > self._memory // 2:
                self._spill()
            self._wait()
        self._store()

    def _done(self) -> bool:
        with self._changed:
            self._release()
            return self._paused or (self._closing and (self._pipe is None or not self._left_to_write()))

    def _left_to_write(self) -> bool:
        return bool(self._current or self._unwritten or self._overflow.size or self._refused or self._queue)

    def _wait(self) -> None:
        """Wait until there is something to do, and look whether the shipping process is there."""
        with self._changed:
            timeout: float | None = None
            if self._pipe is None:
                timeout = min(max(self._restart_at - time.monotonic(), 0.001), LOOK_SECONDS)
            elif self._left_to_write():
                timeout = 0.005  # it has much that is not safe
            elif self._unsafe:
                timeout = LOOK_SECONDS
            if not self._paused and not (self._closing and not self._left_to_write()):
                self._changed.wait(timeout)
        if self._pipe is not None:
            poller = select.poll()
            poller.register(self._pipe, 0)
            if poller.poll(0):
                self._let_go_of_shipping()

    def _choose(self) -> bool:
        """Choose what to write next: what another shipping process had, then the file, then memory. False where there is nothing."""
        if not self._overflow.size:
            self._overflow.refuses = False
        if self._unwritten:
            piece = self._unsafe[-self._unwritten]
            self._unwritten -= 1
        else:
            if self._unsafe_bytes > self._memory + WINDOW_BYTES:
                return False
            try:
                found = self._overflow.read() or self._take()
            except OSError:
                # The disk fails. What is on it is left to others; what follows is counted.
                self._close_pipe()
                self._restart = None
                return False
            if found is None:
                return False
            piece = found
            self._unsafe.append(piece)
            self._unsafe_bytes += len(piece.data)
        self._current = memoryview(piece.data)
        return True

    def _write(self) -> None:
        assert self._pipe is not None
        try:
            self._current = self._current[os.write(self._pipe, self._current) :]
        except BlockingIOError:
            if self._queued > self._memory // 2:
                self._spill()
            poller = select.poll()
            poller.register(self._pipe, select.POLLOUT)
            # Not longer: a job that prints 2 GB/s fills what is left of memory in a few milliseconds.
            poller.poll(2)
        except OSError:
            self._let_go_of_shipping()

    def _let_go_of_shipping(self) -> None:
        """The shipping process is gone. The pass-through goes on, and keeps what is not safe for another one."""
        self._gone = True
        self._close_pipe()
        self._current = memoryview(b"")
        self._unwritten = 0
        now = time.monotonic()
        if now - self._started > RESTART_SECONDS[1]:
            self._pause = RESTART_SECONDS[0]
        self._restart_at = now + self._pause
        self._pause = min(2 * self._pause, RESTART_SECONDS[1])

    def _start_again(self) -> None:
        if self._restart is None or time.monotonic() < self._restart_at:
            return
        self._release()
        try:
            pipe = self._restart(self._front)
        except OSError:
            self._restart_at = time.monotonic() + RESTART_SECONDS[1]
            return
        os.set_blocking(pipe, False)
        self._pipe, self._gone, self._started = pipe, False, time.monotonic()
        self._unwritten = len(self._unsafe)

    @property
    def _front(self) -> Start:
        """Where begins what is not safe."""
        if self._unsafe:
            return self._unsafe[0].start
        if (first := self._overflow.next) is not None:
            return first
        return self._taken if self._refused is None else self._refused.start

    def _release(self) -> None:
        """Give up what is safe."""
        safe = [self._progress.safe(stream)[0].offset for stream in (0, 1)]
        while len(self._unsafe) > self._unwritten:
            piece = self._unsafe[0]
            if any(piece.end.sizes[stream] > safe[stream] for stream in (0, 1)):
                return
            if piece.ended and self._progress.safe_events < ENDED:
                return
            self._unsafe.popleft()
            self._unsafe_bytes -= len(piece.data)

    def _take(self) -> Slice | None:
        """Take frames of about `SLICE_BYTES` from memory."""
        with self._changed:
            if self._refused is not None:
                piece, self._refused = self._refused, None
                self._queued = max(0, self._queued - len(piece.data))
                return piece
            parts: list[bytes] = []
            size = held = 0
            start, ended = self._taken, False
            sizes, newlines = list(start.totals.sizes), list(start.totals.newlines)
            while self._queue and size < SLICE_BYTES:
                frame = self._queue.popleft()
                parts += (frame.head, frame.payload)
                size += len(frame.head) + len(frame.payload)
                held += frame.held
                if frame.stream >= 0:
                    sizes[frame.stream] += frame.size
                    newlines[frame.stream] += frame.newlines
                ended = ended or frame.ends
            self._queued = max(0, self._queued - held)
            self._stuck = False
            self._moved.notify_all()
            if not parts:
                return None
            end = Totals((sizes[0], sizes[1]), (newlines[0], newlines[1]))
            self._taken = Start(start.position + size, end)
        return Slice(b"".join(parts), start, end, ended)

    def _spill(self) -> None:
        """Move memory to the file, as far as the file takes it."""
        while not self._overflow.refuses and not self._paused and (piece := self._take()) is not None:
            if not self._overflow.write(piece):
                with self._changed:
                    self._refused = piece
                    self._queued += len(piece.data)
                return

    def _add_gap(self, stream: int, arrived: float, missed: _Missed) -> None:
        gap = frames.gap(stream, arrived, missed.size, missed.newlines)
        self._queue.append(_Frame(gap, stream, missed.size, missed.newlines))

    def _open_rest(self) -> None:
        if self._make_rest is not None:
            with suppress(OSError):
                self._overflow.rest = self._make_rest()
                self._progress.set_has_rest()
            self._make_rest = None

    def _store(self) -> None:
        """Store what passed, for the case that both processes are killed."""
        content = self._progress.passed_bytes
        if content != self._stored and self._overflow.rest is not None:
            with suppress(OSError):
                self._overflow.rest.store_passed(content)
                self._stored = content
