"""The loop of the GPU agent: sample, record, send, wait."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import structlog

from records import GpuSample
from streams.producers.shipper import Envelope, Shipper, Source
from streams.transport import Producer, outgoing

from .recording import RecordingWriter
from .source import GpuError, GpuSource

log = structlog.get_logger(__name__)

MEMORY = 16 << 20
"""Bytes of samples that wait for a broker that is away: about 10,000. Past that the oldest give way, for the newest are worth more."""


@dataclass
class GpuAgentCounters:
    """What the agent did. What became of the samples on their way is in the shipper's counters."""

    samples: int = 0
    """Samples taken."""
    xids: int = 0
    """Xid events seen."""
    gpus: int = 0
    """GPUs in the last round (a gauge)."""
    gpus_failing: int = 0
    """GPUs that could not be read in the last round, wholly or in part (a gauge)."""
    rounds_failed: int = 0
    """Rounds in which nothing could be sampled."""
    rounds_missed: int = 0
    """Rounds left out because the one before took longer than the interval."""
    recording_failed: int = 0
    """1 once the recording had to be given up."""
    last_round: float = 0.0
    """When a round last succeeded, in seconds since 1970 (a gauge; for health checks)."""


class GpuAgent:
    """Samples GPUs at an interval and ships the samples; the broker's absence neither stops nor slows it.

    Args:
        source: GPUs, or a recording of some. Closed at the end of `run`.
        connect: Connects to the broker; called in another thread, and again after the broker refused.
        interval: Seconds between samples.
        clock: Seconds since 1970.
        recorder: Where samples are recorded, too. Closed at the end of `run`.
        close_seconds: How long the last samples are still sent at the end.
        stop: Ends `run` when set.

    Attributes:
        shipper: Holds what is not sent yet, and counts what became of it.
    """

    def __init__(
        self,
        source: GpuSource,
        connect: Callable[[], Producer],
        interval: float = 1.0,
        clock: Callable[[], float] = time.time,
        *,
        recorder: RecordingWriter | None = None,
        close_seconds: float = 5.0,
        stop: threading.Event | None = None,
    ) -> None:
        if interval <= 0:
            raise ValueError(f"expected an interval above 0 seconds, got {interval}")
        self.counters = GpuAgentCounters()
        self.shipper = Shipper(connect, "gpu-agent", perishable=True, memory=MEMORY)
        self._source, self._interval, self._clock, self._recorder = source, interval, clock, recorder
        self._close_seconds = close_seconds
        self._stop = stop or threading.Event()
        self._failing = False

    def run(self) -> None:
        """Sample until `stop` is called or the source is exhausted, then send what is left and close everything."""
        due = time.monotonic()
        try:
            while not self._stop.is_set() and not self._source.exhausted:
                self.step()
                due += self._interval
                late = time.monotonic() - due
                if late > 0:
                    missed = int(late // self._interval) + 1
                    self.counters.rounds_missed += missed
                    due += missed * self._interval
                self._stop.wait(due - time.monotonic())
        finally:
            self._source.close()
            self._close_recorder()
            self.shipper.counters.lost += self.shipper.close(self._close_seconds).lost

    def stop(self) -> None:
        """End `run` soon; may be called from another thread or a signal handler."""
        self._stop.set()

    def step(self) -> list[GpuSample]:
        """Do one round and return its samples."""
        try:
            samples = self._source.sample()
        except GpuError as error:
            self.counters.rounds_failed += 1
            if not self._failing:
                log.error("sampling_failed", error=str(error))
            self._failing = True
            return []
        if self._failing:
            log.info("sampling_again")
        self._failing = False
        self.counters.samples += len(samples)
        self.counters.xids += sum(len(sample.xids) for sample in samples)
        if samples:  # a recording is silent between its samples
            self.counters.gpus = len({(sample.node, sample.gpu) for sample in samples})
            self.counters.gpus_failing = len({(sample.node, sample.gpu) for sample in samples if sample.error})
        self.counters.last_round = self._clock()
        self._record(samples)
        self.take(samples)
        return samples

    def take(self, samples: Iterable[GpuSample]) -> None:
        """Ship `samples`; never waits."""
        for sample in samples:
            source = Source("", node=sample.node, ordering_key=f"{sample.node}/{sample.gpu}")
            self.shipper.offer(Envelope(source, outgoing(sample), 1))

    def _record(self, samples: list[GpuSample]) -> None:
        if self._recorder is None or not samples:
            return
        try:
            self._recorder.write(samples)
        except OSError as error:
            log.error("recording_given_up", error=str(error))
            self.counters.recording_failed = 1
            self._close_recorder()

    def _close_recorder(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        try:
            recorder.close()
        except OSError as error:
            log.error("recording_not_closed", error=str(error))
