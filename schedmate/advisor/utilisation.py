"""GPU utilisation of jobs, from the samples of their nodes (topic `gpu-metrics`)."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread
from typing import Protocol

import structlog

from schedmate_records import GpuSample, InvalidRecord, decode
from streams.transport import Message, TransportError

log = structlog.get_logger(__name__)

FEWEST = 3
"""Minimum number of samples for a statement about a job."""


class Utilisation:
    """The mean utilisation of the GPUs of each job, over the samples that were seen. Safe for threads.

    A GPU that several jobs share, or whose process cannot be assigned to a job, counts for none.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def add_sample(self, sample: GpuSample) -> None:
        """Take in a sample."""
        jobs = {process.job for process in sample.processes}
        job = jobs.pop() if len(jobs) == 1 else None
        if job is None or sample.utilisation is None or sample.error:
            return
        with self._lock:
            total, count = self._seen.pop(job, (0.0, 0))
            self._seen[job] = total + sample.utilisation, count + 1
            # The oldest of 100,000 jobs is forgotten.
            if len(self._seen) > 100_000:
                self._seen.popitem(last=False)

    def finish(self, job: str) -> float | None:
        """Return the mean of a job whose attempt is over, in percent, and forget it; None where too little was seen."""
        with self._lock:
            total, count = self._seen.pop(job, (0.0, 0))
        return total / count if count >= FEWEST else None


class Follower(Protocol):
    """Reads what is new of a topic, without a group."""

    def new(self) -> Sequence[Message]:
        """Return what was written since the last call. Raises `TransportError`."""

    def close(self) -> None:
        """Let go of the connection."""


class SampleReader(Thread):
    """Passes samples on as they are written, from its start on. A daemon: samples that it has not read are not missed.

    Args:
        follow: Opens the topic at its present end.
        take: Gets each sample.
        stop: Ends it.
        look_s: Seconds between looks.
    """

    def __init__(
        self, follow: Callable[[], Follower], take: Callable[[GpuSample], None], stop: Event, look_s: float = 2.0
    ) -> None:
        super().__init__(name="gpu-samples", daemon=True)
        self._follow, self._take, self._stop_asked, self._look_s = follow, take, stop, look_s

    def run(self) -> None:
        """Read until the stop."""
        follower, looked = self._follow(), time.monotonic()
        while not self._stop_asked.wait(self._look_s):
            # A mean needs no samples of a longer pause, and they may be many.
            if time.monotonic() - looked > 60.0:
                follower.close()
                follower = self._follow()
            try:
                messages = follower.new()
            except TransportError as error:
                log.info("gpu_samples_not_read", error=str(error))
                continue
            looked = time.monotonic()
            for message in messages:
                self._hand_on(message)
        follower.close()

    def _hand_on(self, message: Message) -> None:
        try:
            self._take(decode(GpuSample, message.value))
        except InvalidRecord:  # the worker reads this topic, too, and makes a dead letter of it
            return
