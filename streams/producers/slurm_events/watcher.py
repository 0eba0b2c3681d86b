"""Ships what happens in Slurm: looks, compares, sends, and only then remembers."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import structlog

from resilience import Outage, replace_file
from scheduler_clients.slurm import SlurmClient, SlurmError
from streams.transport import Producer, TransportError, outgoing

from .changes import Known, changes

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
        self.counters = SlurmWatcherCounters()
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
        self.counters.looks += 1
        self._pause_s = 0.0
        now = self._clock()
        try:
            jobs = self._client.jobs()
            events, after = changes(self._known, jobs, now, self._client.gpus)
        except SlurmError as error:
            self.counters.slurm_away += 1
            self._pause_s = self._slurm.failed(error)
            return 0
        self._slurm.succeeded()
        self.counters.last_look, self.counters.jobs, self.counters.unreadable = now, len(jobs), self._client.unreadable
        try:
            sent = [self._producer.send(outgoing(event)) for event in events]
            if sent:
                self._producer.flush(self._flush_timeout)
            for future in sent:
                future.result(self._flush_timeout)
        except (TransportError, TimeoutError) as error:
            self.counters.broker_away += 1
            self._pause_s = self._broker.failed(error)
            return 0
        self._broker.succeeded()
        if after != self._known:
            replace_file(self._checkpoint, msgspec.json.encode(after))
            self._known = after
        self.counters.events += len(events)
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
