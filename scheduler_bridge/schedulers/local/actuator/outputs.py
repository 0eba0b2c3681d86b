"""Output of the processes of all jobs, as they print it."""

import selectors
import time
from collections.abc import Callable

from .jobs import LocalJob, StreamOutput
from .process import Task


class Outputs:
    """Reads the pipes of all processes. One thread uses it.

    Args:
        hand_on: Called with what was printed. It must not block for long: a job whose pipe is full waits.
    """

    def __init__(self, hand_on: Callable[[StreamOutput], None], clock: Callable[[], float]) -> None:
        self._hand_on = hand_on
        self._clock = clock
        self._selector = selectors.DefaultSelector()

    def follow(self, job: LocalJob, task: Task) -> None:
        """Read a process that was started."""
        for stream, pipe in task.streams.items():
            self._selector.register(pipe, selectors.EVENT_READ, (job, task, stream))

    def read(self, wait_s: float) -> None:
        """Hand on what was printed. Waits up to `wait_s` seconds for something."""
        if not self._selector.get_map():
            time.sleep(wait_s)
            return
        for key, _ in self._selector.select(wait_s):
            job, task, stream = key.data
            self._read(job, task, stream)

    def finish(self, job: LocalJob, task: Task) -> None:
        """Hand on all that an ended process printed, then the end of its streams, and let go of it."""
        for stream in list(task.streams):
            while self._read(job, task, stream):
                pass
            if stream in task.streams:  # a child of it still holds the pipe
                self._selector.unregister(task.streams[stream])
                self._tell(job, task, stream, b"")
        task.close()

    def close(self) -> None:
        """Read no more."""
        self._selector.close()

    def _read(self, job: LocalJob, task: Task, stream: str) -> bool:
        """Hand on one read's worth of a stream. False where there is nothing more for now."""
        data = task.read(stream)
        if data is None:
            return False
        self._tell(job, task, stream, data)
        if not data:
            pipe = task.streams.pop(stream)
            self._selector.unregister(pipe)
            pipe.close()
        return bool(data)

    def _tell(self, job: LocalJob, task: Task, stream: str, data: bytes) -> None:
        self._hand_on(StreamOutput(job.job, job.attempt, job.node, task.rank, stream, data, self._clock()))
