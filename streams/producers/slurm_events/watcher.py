"""Ships what happens in Slurm: looks, compares, sends, and only then remembers."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import structlog
from prometheus_client import Counter, Gauge

from streams.transport import Producer, TransportError, outgoing

from .changes import Known, changes
from .listing import Listing, SlurmAway

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
        listing: Slurm.
        clock: Seconds since 1970.
        flush_timeout: Seconds to wait for acknowledgements.
    """

    def __init__(
        self,
        producer: Producer,
        checkpoint: Path,
        listing: Listing | None = None,
        clock: Callable[[], float] = time.time,
        flush_timeout: float = 10.0,
    ) -> None:
        self.metrics = SlurmWatcherMetrics()
        self.last_look = 0.0
        self._producer = producer
        self._checkpoint = checkpoint
        self._listing = listing or Listing()
        self._clock = clock
        self._flush_timeout = flush_timeout
        self._known = _load(checkpoint)
        self._troubles: set[str] = set()

    def poll(self) -> int:
        """Look once, and return the number of events that were told. Never raises for a scheduler or broker that is away."""
        self.metrics.looks.inc()
        now = self._clock()
        try:
            jobs = self._listing.read()
            events, after = changes(self._known, jobs, now, self._listing.gpus)
        except SlurmAway as error:
            self.metrics.slurm_away.inc()
            self._say("slurm_away", error)
            return 0
        self._over("slurm_away")
        self.last_look = now
        self.metrics.last_look.set(now)
        self.metrics.jobs.set(len(jobs))
        self.metrics.unreadable.set(self._listing.unreadable)
        try:
            sent = [self._producer.send(outgoing(event)) for event in events]
            if sent:
                self._producer.flush(self._flush_timeout)
            for future in sent:
                future.result(self._flush_timeout)
        except (TransportError, TimeoutError) as error:
            self.metrics.broker_away.inc()
            self._say("broker_away", error)
            return 0
        self._over("broker_away")
        if after != self._known:
            _save(self._checkpoint, after)
            self._known = after
        self.metrics.events.inc(len(events))
        return len(events)

    def run(self, stop: threading.Event, interval: float = 1.0) -> None:
        """Look every `interval` seconds until `stop` is set."""
        while not stop.is_set():
            self.poll()
            stop.wait(interval)

    def _say(self, trouble: str, error: Exception) -> None:
        if trouble not in self._troubles:
            log.warning(trouble, error=str(error))
        self._troubles.add(trouble)

    def _over(self, trouble: str) -> None:
        if trouble in self._troubles:
            log.info(trouble + "_no_more")
        self._troubles.discard(trouble)


def _load(checkpoint: Path) -> dict[str, Known]:
    try:
        return msgspec.json.decode(checkpoint.read_bytes(), type=dict[str, Known])
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Nothing is lost: all that Slurm still knows is told again, under the same ids.
        log.warning("checkpoint_unreadable", file=str(checkpoint), error=str(error))
        return {}


def _save(checkpoint: Path, known: dict[str, Known]) -> None:
    """Replace the file in one step, so that a crash leaves the old one or the new one."""
    fresh = checkpoint.with_name(checkpoint.name + ".new")
    with fresh.open("wb") as file:
        file.write(msgspec.json.encode(known))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(checkpoint)
