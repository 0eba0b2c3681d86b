"""Ships what happens in Slurm: looks, compares, sends, and remembers once it is acknowledged."""

import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec
import structlog
from prometheus_client import Counter, Gauge

from records import JobEvent
from resilience import Outage, replace_file
from scheduler_clients.slurm import SlurmClient, SlurmError
from streams.producers.shipper import Envelope, Shipper, Source
from streams.transport import Producer, outgoing

from .changes import Known, changes

log = structlog.get_logger(__name__)


class SlurmWatcherMetrics:
    """What the watcher did since it started."""

    def __init__(self) -> None:
        self.looks = Counter("schedmate_slurm_watcher_looks", "Looks at Slurm's list of jobs.", registry=None)
        self.events = Counter("schedmate_slurm_watcher_events", "Job events that were acknowledged.", registry=None)
        self.jobs = Gauge("schedmate_slurm_watcher_jobs", "Jobs that Slurm knows now.", registry=None)
        self.unreadable = Gauge(
            "schedmate_slurm_watcher_unreadable_jobs",
            "Jobs now whose record cannot be told from a text of their user.",
            registry=None,
        )
        self.slurm_away = Counter(
            "schedmate_slurm_watcher_slurm_away", "Looks that Slurm did not answer.", registry=None
        )
        self.last_look = Gauge(
            "schedmate_slurm_watcher_last_look_timestamp_seconds",
            "When Slurm last answered, in seconds since 1970.",
            unit="seconds",
            registry=None,
        )


class SlurmWatcher:
    """Turns what changes in Slurm's list of jobs into job events.

    What was told is kept in a small file, written after the events are acknowledged. A watcher that starts again goes on from there;
    without the file it tells again what Slurm still knows, under the same ids. Jobs that came and went while no watcher ran for
    longer than Slurm's MinJobAge are lost to it.

    While the broker is away events wait in memory, in order. Once that is full, Slurm's list is not looked at: none of them is dropped.

    Args:
        connect: Connects to the broker; called in another thread.
        checkpoint: The file; its directory must be there.
        client: Slurm.
        clock: Seconds since 1970.
        memory: Bytes of events that may wait.
    """

    def __init__(
        self,
        connect: Callable[[], Producer],
        checkpoint: Path,
        client: SlurmClient | None = None,
        clock: Callable[[], float] = time.time,
        memory: int = 8 << 20,
    ) -> None:
        self.metrics = SlurmWatcherMetrics()
        self.last_look = 0.0
        self.shipper = Shipper(connect, "slurm-events", memory=memory, clock=clock)
        self._checkpoint = checkpoint
        self._client = client or SlurmClient()
        self._clock = clock
        self._known = self._remembered = _load(checkpoint)
        self._unsent: deque[JobEvent] = deque()
        self._unacknowledged = 0
        self._lock = threading.Lock()
        self._slurm = Outage("Slurm", consequence="events are told once it answers")
        self._pause_s = 0.0

    def poll(self) -> int:
        """Look once, and return the number of events that follow. Never raises for a scheduler that is away, or waits for a broker."""
        self._remember()
        if not self._send():
            return 0
        self.metrics.looks.inc()
        self._pause_s = 0.0
        now = self._clock()
        try:
            jobs = self._client.jobs()
            events, self._known = changes(self._known, jobs, now, self._client.gpus)
        except SlurmError as error:
            self.metrics.slurm_away.inc()
            self._pause_s = self._slurm.failed(error)
            return 0
        self._slurm.succeeded()
        self.last_look = now
        self.metrics.last_look.set(now)
        self.metrics.jobs.set(len(jobs))
        self.metrics.unreadable.set(self._client.unreadable)
        self._unsent += events
        self._send()
        return len(events)

    def run(self, stop: threading.Event, interval: float = 1.0) -> None:
        """Look every `interval` seconds until `stop` is set; less often while Slurm is away."""
        while not stop.is_set():
            self.poll()
            stop.wait(max(interval, self._pause_s))

    def close(self, timeout: float = 5.0) -> None:
        """Wait up to `timeout` seconds for acknowledgements, and remember what was told."""
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
        """Write down what was told, where all of it is acknowledged."""
        if self._known != self._remembered and not self._unsent and not self._unacknowledged:
            replace_file(self._checkpoint, msgspec.json.encode(self._known))
            self._remembered = self._known


def _load(checkpoint: Path) -> dict[str, Known]:
    try:
        return msgspec.json.decode(checkpoint.read_bytes(), type=dict[str, Known])
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Nothing is lost: all that Slurm still knows is told again, under the same ids.
        log.warning("checkpoint_unreadable", file=str(checkpoint), error=str(error))
        return {}
