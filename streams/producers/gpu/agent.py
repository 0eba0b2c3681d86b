"""The loop of the GPU agent: sample, record, send, wait."""

import threading
import time
from collections.abc import Callable, Iterable

import structlog

from schedmate_records import GpuSample
from schedmate_records.metrics import MetricFactory

from ...transport import Producer, outgoing
from ..shipper import Envelope, Shipper, Source
from .recording import RecordingWriter
from .source import GpuError, GpuSource

log = structlog.get_logger(__name__)


class GpuAgentMetrics:
    """Metrics of the agent. The shipper's counters cover the samples after that."""

    def __init__(self) -> None:
        make = MetricFactory("schedmate_gpu_agent")
        self.samples = make.counter("samples", "Samples taken.")
        self.xids = make.counter("xids", "Xid events seen.")
        self.gpus = make.gauge("gpus", "GPUs in the last round.")
        self.gpus_failing = make.gauge("gpus_failing", "GPUs that could not be read completely in the last round.")
        self.rounds_failed = make.counter("rounds_failed", "Rounds in which nothing could be sampled.")
        self.rounds_missed = make.counter(
            "rounds_missed", "Rounds left out because the one before took longer than the interval."
        )
        self.recording_failed = make.gauge("recording_failed", "1 once the recording had to be given up.")
        self.last_round = make.gauge(
            "last_round_timestamp_seconds", "When a round last succeeded, in seconds since 1970.", unit="seconds"
        )


class GpuAgent:
    """Samples GPUs at an interval and ships the samples; the broker's absence neither stops nor slows it.

    Args:
        source: GPUs, or a recording of some. Closed at the end of `run`.
        connect: Connects to the broker; called in another thread, and again after the broker refused.
        interval: Seconds between samples.
        recorder: Where samples are recorded, too. Closed at the end of `run`.
        close_seconds: How long the last samples are still sent at the end.
        stop: Ends `run` when set.

    Attributes:
        shipper: Holds what is not sent yet, and counts what became of it.
        last_round: When a round last succeeded, by the monotonic clock; 0 before the first.
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
        self.metrics = GpuAgentMetrics()
        # About 10,000 samples wait while the broker is away. Then the oldest are dropped: newer samples are worth more.
        self.shipper = Shipper(connect, "gpu-agent", perishable=True, memory=16 << 20)
        self._source, self._interval, self._clock, self._recorder = source, interval, clock, recorder
        self._close_seconds = close_seconds
        self._stop = stop or threading.Event()
        self._failing = False
        self.last_round = 0.0

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
                    self.metrics.rounds_missed.inc(missed)
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
            self.metrics.rounds_failed.inc()
            if not self._failing:
                log.error("sampling_failed", error=str(error))
            self._failing = True
            return []
        if self._failing:
            log.info("sampling_again")
        self._failing = False
        self.metrics.samples.inc(len(samples))
        self.metrics.xids.inc(sum(len(sample.xids) for sample in samples))
        if samples:  # a recording is silent between its samples
            self.metrics.gpus.set(len({(sample.node, sample.gpu) for sample in samples}))
            self.metrics.gpus_failing.set(len({(sample.node, sample.gpu) for sample in samples if sample.error}))
        self.last_round = time.monotonic()
        self.metrics.last_round.set(self._clock())
        self._record(samples)
        self.ship(samples)
        return samples

    def ship(self, samples: Iterable[GpuSample]) -> None:
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
            self.metrics.recording_failed.set(1)
            self._close_recorder()

    def _close_recorder(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        try:
            recorder.close()
        except OSError as error:
            log.error("recording_not_closed", error=str(error))
