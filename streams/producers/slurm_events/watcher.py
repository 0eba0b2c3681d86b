"""Ships what happens in Slurm: looks, compares, sends, and only then remembers."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import structlog

from streams.transport import Producer, TransportError, outgoing

from .changes import Known, changes
from .listing import Listing, SlurmAway

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class SlurmWatcherCounters:
    """What the watcher did since it started."""

    looks: int = 0
    """Looks at Slurm's list of jobs."""
    events: int = 0
    """Job events that were acknowledged."""
    jobs: int = 0
    """Jobs that Slurm knows now."""
    unreadable: int = 0
    """Jobs whose record cannot be told from a text of their user."""
    slurm_away: int = 0
    """Looks that Slurm did not answer."""
    broker_away: int = 0
    """Looks whose events the broker did not take; they are told at the next."""
    last_look: float = 0.0
    """Time of the last look that was answered, in seconds since 1970."""


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
        self.counters = SlurmWatcherCounters()
        self._producer = producer
        self._checkpoint = checkpoint
        self._listing = listing or Listing()
        self._clock = clock
        self._flush_timeout = flush_timeout
        self._known = _load(checkpoint)
        self._troubles: set[str] = set()

    def poll(self) -> int:
        """Look once, and return the number of events that were told. Never raises for a scheduler or broker that is away."""
        self.counters.looks += 1
        now = self._clock()
        try:
            jobs = self._listing.read()
            events, after = changes(self._known, jobs, now, self._listing.gpus)
        except SlurmAway as error:
            self.counters.slurm_away += 1
            self._say("slurm_away", error)
            return 0
        self._over("slurm_away")
        self.counters.last_look, self.counters.jobs, self.counters.unreadable = now, len(jobs), self._listing.unreadable
        try:
            sent = [self._producer.send(outgoing(event)) for event in events]
            if sent:
                self._producer.flush(self._flush_timeout)
            for future in sent:
                future.result(self._flush_timeout)
        except (TransportError, TimeoutError) as error:
            self.counters.broker_away += 1
            self._say("broker_away", error)
            return 0
        self._over("broker_away")
        if after != self._known:
            _save(self._checkpoint, after)
            self._known = after
        self.counters.events += len(events)
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
