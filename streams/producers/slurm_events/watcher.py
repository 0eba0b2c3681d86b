"""Ships what happens in Slurm: looks, compares, sends, and only then remembers."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import structlog
from prometheus_client import Counter, Gauge

from resilience import Outage, replace_file
from scheduler_clients.slurm import SlurmClient, SlurmError
from streams.transport import Producer, TransportError, outgoing

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
        self.broker_away = Counter(
            "schedmate_slurm_watcher_broker_away",
            "Looks whose events the broker did not take; they are told at the next.",
            registry=None,
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

    Args:
        producer: Where events go.
        checkpoint: The file; its directory must be there.
        client: Slurm.
        clock: Seconds since 1970.
        flush_timeout: Seconds to wait for acknowledgements.
    """

    def __init__(
        self,
        producer: Producer,
        checkpoint: Path,
        client: SlurmClient | None = None,
        clock: Callable[[], float] = time.time,
        flush_timeout: float = 10.0,
    ) -> None:
        self.metrics = SlurmWatcherMetrics()
        self.last_look = 0.0
        self._producer = producer
        self._checkpoint = checkpoint
        self._client = client or SlurmClient()
        self._clock = clock
        self._flush_timeout = flush_timeout
        self._known = _load(checkpoint)
        self._slurm = Outage("Slurm", consequence="events are told once it answers")
        self._broker = Outage("Kafka", consequence="events are told once it answers")
        self._pause_s = 0.0

    def poll(self) -> int:
        """Look once, and return the number of events that were told. Never raises for a scheduler or broker that is away."""
        self.metrics.looks.inc()
        self._pause_s = 0.0
        now = self._clock()
        try:
            jobs = self._client.jobs()
            events, after = changes(self._known, jobs, now, self._client.gpus)
        except SlurmError as error:
            self.metrics.slurm_away.inc()
            self._pause_s = self._slurm.failed(error)
            return 0
        self._slurm.succeeded()
        self.last_look = now
        self.metrics.last_look.set(now)
        self.metrics.jobs.set(len(jobs))
        self.metrics.unreadable.set(self._client.unreadable)
        try:
            sent = [self._producer.send(outgoing(event)) for event in events]
            if sent:
                self._producer.flush(self._flush_timeout)
            for future in sent:
                future.result(self._flush_timeout)
        except (TransportError, TimeoutError) as error:
            self.metrics.broker_away.inc()
            self._pause_s = self._broker.failed(error)
            return 0
        self._broker.succeeded()
        if after != self._known:
            replace_file(self._checkpoint, msgspec.json.encode(after))
            self._known = after
        self.metrics.events.inc(len(events))
        return len(events)

    def run(self, stop: threading.Event, interval: float = 1.0) -> None:
        """Look every `interval` seconds until `stop` is set; less often while Slurm or the broker is away."""
        while not stop.is_set():
            self.poll()
            stop.wait(max(interval, self._pause_s))


def _load(checkpoint: Path) -> dict[str, Known]:
    try:
        return msgspec.json.decode(checkpoint.read_bytes(), type=dict[str, Known])
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Nothing is lost: all that Slurm still knows is told again, under the same ids.
        log.warning("checkpoint_unreadable", file=str(checkpoint), error=str(error))
        return {}
