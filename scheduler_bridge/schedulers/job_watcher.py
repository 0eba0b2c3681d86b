"""Ships what happens to a scheduler's jobs: looks, compares, sends, and remembers once it is acknowledged."""

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
import structlog

from schedmate_records import NOT_JSON, JobEvent, UserError
from schedmate_records.metrics import MetricFactory
from streams.producers.shipper import Envelope, Shipper, Source
from streams.resilience import Outage, replace_file
from streams.transport import Producer, outgoing

log = structlog.get_logger(__name__)

K = TypeVar("K", bound=msgspec.Struct)
"""Reported state of a job."""


class JobWatcherMetrics:
    """Metrics of a watcher.

    Args:
        kind: What its series are called by: `slurm`.
        scheduler: Its name, as a person reads it.
    """

    def __init__(self, kind: str, scheduler: str) -> None:
        name = f"schedmate_{kind}_watcher"
        make = MetricFactory(name)
        self.looks = make.counter("looks", f"Readings of {scheduler}'s list of jobs.")
        self.events = make.counter("events", "Job events acknowledged by the broker.")
        self.jobs = make.gauge("jobs", f"Jobs in {scheduler}'s list.")
        self.away = make.counter(f"{kind}_away", f"Readings that {scheduler} did not answer.")
        self.last_look = make.gauge(
            "last_look_timestamp_seconds", f"When {scheduler} last answered, in seconds since 1970.", unit="seconds"
        )


class JobWatcher(ABC, Generic[K]):
    """Turns what changes in a scheduler's list of jobs into job events. A subclass implements `look`.

    What was reported is kept in a small file, written after the events are acknowledged. A watcher that starts again continues from
    there; without the file it reports again what the scheduler still knows, under the same ids.

    While the broker is away events wait in memory, in order. Once that is full, the scheduler is not looked at: none of them is dropped.

    Args:
        connect: Connects to the broker; called in another thread.
        checkpoint: The file; its directory is created.
        metrics: Metrics of the subclass.
        memory: Bytes of events that may wait.

    Attributes:
        known: Type of what is remembered of each job.
        scheduler: Name of the scheduler, for people.
        away: Error that `look` raises where the scheduler does not answer.
    """

    known: ClassVar[type[msgspec.Struct]]
    scheduler: ClassVar[str]
    away: ClassVar[type[UserError]]

    def __init__(
        self,
        connect: Callable[[], Producer],
        checkpoint: Path,
        metrics: JobWatcherMetrics,
        clock: Callable[[], float] = time.time,
        memory: int = 8 << 20,
    ) -> None:
        self.metrics = metrics
        self.last_look = 0.0
        self.shipper = Shipper(connect, f"{self.scheduler.lower()}-events", memory=memory, clock=clock)
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        self._checkpoint = checkpoint
        self._clock = clock
        self._known: dict[str, K] = _load(checkpoint, self.known)
        self._remembered = self._known
        self._unsent: deque[JobEvent] = deque()
        self._unacknowledged = 0
        self._lock = threading.Lock()
        self._outage = Outage(self.scheduler, consequence="events follow once it answers")
        self._pause_s = 0.0

    @abstractmethod
    def look(self, known: Mapping[str, K], now: float) -> tuple[list[JobEvent], dict[str, K], int]:
        """Return what happened since `known` was true, in order, what is known from now on, and the number of jobs there are.

        Args:
            known: What was reported so far.
            now: Seconds since 1970.
        """

    def poll(self) -> int:
        """Look once, and return the number of events that follow. Never raises for a scheduler that is away, or waits for a broker."""
        self._remember()
        if not self._send():
            return 0
        self.metrics.looks.inc()
        self._pause_s = 0.0
        now = self._clock()
        try:
            events, self._known, jobs = self.look(self._known, now)
        except self.away as error:
            self.metrics.away.inc()
            self._pause_s = self._outage.failed(error)
            return 0
        self._outage.succeeded()
        self.last_look = time.monotonic()
        self.metrics.last_look.set(now)
        self.metrics.jobs.set(jobs)
        self._unsent += events
        self._send()
        return len(events)

    def run(self, stop: threading.Event, interval: float = 1.0) -> None:
        """Look every `interval` seconds until `stop` is set; less often while the scheduler is away."""
        while not stop.is_set():
            self.poll()
            stop.wait(max(interval, self._pause_s))

    def close(self, timeout: float = 5.0) -> None:
        """Wait up to `timeout` seconds for acknowledgements, and store what was reported."""
        self._send()
        self.shipper.close(timeout)
        self._remember()

    def _send(self) -> bool:
        """Hand over the events that are not on their way yet. False where the shipper has no room for all of them."""
        while self._unsent:
            event = self._unsent[0]
            with self._lock:
                self._unacknowledged += 1
            source = Source(event.job, event.attempt, ordering_key=event.job)
            if not self.shipper.offer(Envelope(source, outgoing(event), 1, self._acknowledged)):
                with self._lock:
                    self._unacknowledged -= 1
                return False
            self._unsent.popleft()
        return True

    def _acknowledged(self, _: Exception | None) -> None:
        with self._lock:
            self._unacknowledged -= 1
            self.metrics.events.inc()

    def _remember(self) -> None:
        """Store what was reported, where all of it is acknowledged."""
        if self._known != self._remembered and not self._unsent and not self._unacknowledged:
            replace_file(self._checkpoint, msgspec.json.encode(self._known))
            self._remembered = self._known


def _load(checkpoint: Path, known: type[msgspec.Struct]) -> dict[str, Any]:
    try:
        return msgspec.json.decode(checkpoint.read_bytes(), type=dict[str, known])  # type: ignore[valid-type]
    except FileNotFoundError:
        return {}
    except NOT_JSON as error:
        # Nothing is lost: all that the scheduler still knows is reported again, under the same ids.
        log.warning("checkpoint_unreadable", file=str(checkpoint), error=str(error))
        return {}
