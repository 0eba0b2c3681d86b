"""The one way in which chunks reach the broker: in order, without ever making their source wait.

A chunk stands in one of two queues: a bounded one in memory, and behind it, when the broker is away or slow, the spool on disk.
Only one message of a lane (one stream of one producer) is in flight at a time: were a later one written although an
earlier one failed, readers would take the earlier one, sent again, for a repeat.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import structlog

from streams.transport import Producer, TransportError

from .counters import ShippingCounters
from .parcel import Parcel, Source, loss, pack, unpack
from .spool import Spool, SpoolBusy, SpoolFull, orphans

__all__ = ["Leftover", "Parcel", "Shipper", "Source", "SpoolSettings"]

log = structlog.get_logger(__name__)

IN_FLIGHT = 64
"""Messages, each of another lane, that may wait for their acknowledgement at once."""
SLOW_SECONDS = 2.0
"""A message unacknowledged for longer makes the broker count as away: what is in memory goes to disk too."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """What `Shipper.close` could not send: lines kept on disk, lines given up for good."""

    kept: int
    lost: int


@dataclass(frozen=True, slots=True)
class SpoolSettings:
    """Where spools stand: each producer has a directory of its own under `root`; `budget` is in bytes."""

    root: Path
    budget: int = 1 << 30


class Shipper:
    """Sends parcels on a thread of its own.

    Args:
        connect: Makes a producer. May raise; it is called again, later and later, until it does not.
        name: Name of this producer: the directory of its spool.
        spool: Where to keep what cannot be sent. None: `offer` refuses while memory is full, and the caller, whose lines stand
            in a file anyway, comes back later.
        adopt: Also send what spools under that root hold whose owners are gone.
        memory: Bytes to keep in memory.
        counters: Numbers to keep up.
        clock: Seconds since 1970.
        backoff: Seconds before the second attempt to connect, and the longest pause between two.
        adopt_every: Seconds between two looks for spools to adopt.
    """

    def __init__(
        self,
        connect: Callable[[], Producer],
        name: str,
        *,
        spool: SpoolSettings | None = None,
        adopt: SpoolSettings | None = None,
        memory: int = 8 << 20,
        counters: ShippingCounters | None = None,
        clock: Callable[[], float] = time.time,
        backoff: tuple[float, float] = (0.25, 10.0),
        adopt_every: float = 30.0,
    ) -> None:
        self.counters = counters or ShippingCounters()
        self._connect = connect
        self._name = name
        self._settings = spool
        self._adopt = adopt
        self._memory = memory
        self._clock = clock
        self._backoff = backoff
        self._adopt_every = adopt_every
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._stop = threading.Event()
        self._closing = False
        self._lanes: dict[str, deque[Parcel]] = {}
        self._ready: deque[str] = deque()
        self._in_memory = 0
        self._unspooled: dict[Parcel, None] = {}
        self._in_flight: dict[Parcel, float] = {}
        self._epoch = 0
        self._failure: str | None = None
        self._spool: Spool | None = None
        self._adopted: list[Spool] = []
        self._kept = 0
        self._away_now = False
        self._lost: dict[Source, int] = {}
        self._telling: dict[Parcel, None] = {}
        self._lost_told = 0
        self._secured = False
        self._spool_refuses = False
        with self._lock:
            self._open_spool()
        self._thread = threading.Thread(target=self._run, name=f"shipper {name}", daemon=True)
        self._thread.start()

    def offer(self, parcel: Parcel) -> bool:
        """Take over `parcel` and return at once, at worst after one write to the local disk.

        Returns:
            False where it was not taken: without a spool, memory is full, come back later; with one, the disk is full too, and
            its lines are counted as lost.
        """
        with self._lock:
            room = self._in_memory + parcel.size <= self._memory
            if self._settings is None:
                if room:
                    self._keep(parcel)
                return room
            behind = self._spool is not None and self._spool.unread
            if room and not behind:
                self._keep(parcel)
                if not self.counters.broker_up:
                    self._spill()
                return True
            if (behind or self._spill()) and self._to_disk(parcel, read=False):
                return True
            self.lose(parcel.source, parcel.lines)
            return False

    def lose(self, source: Source, lines: int) -> None:
        """Count lines that are given up; a record says so as soon as sending works."""
        with self._lock:
            self._lost[source] = self._lost.get(source, 0) + lines
            self.counters.lost_lines += lines
            self._note_losses()

    @property
    def idle(self) -> bool:
        """True where everything of its own is acknowledged."""
        with self._lock:
            return not self._lanes and not self._lost and (self._spool is None or self._spool.empty)

    @property
    def away(self) -> bool:
        """True from a failure until the broker acknowledges something."""
        with self._lock:
            return self._away_now

    def secure(self, timeout: float) -> Leftover:
        """Wait up to `timeout` seconds for acknowledgements, then put on disk what stands only in memory. Sending goes on.

        A broker that is known to be away is not waited for.

        Returns:
            What waits for its acknowledgement, and what a crash would now lose.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.idle or self._away_now, timeout)
            self._spill()
            self._secured = True
            self._note_losses()
            return Leftover(self._kept, sum(parcel.lines for parcel in self._unspooled) + sum(self._lost.values()))

    def close(self, timeout: float) -> Leftover:
        """Wait up to `timeout` seconds for acknowledgements; leave the rest in the spool."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.idle, timeout)
            self._stop.set()
            self._changed.notify_all()
        # A client that looks for a broker cannot be interrupted; it holds nothing of ours.
        self._thread.join(1.0 if self.counters.broker_up else 0.05)
        with self._lock:
            self._spill()
            lost = sum(parcel.lines for parcel in self._unspooled) + sum(self._lost.values())
            for parcel in self._unspooled:
                self._lost[parcel.source] = self._lost.get(parcel.source, 0) + parcel.lines
            self._unspooled.clear()
            if not self._note_losses():
                for source, count in self._lost.items():
                    self._to_disk(loss(source, count, self._clock()), read=False, beyond_budget=True)
            for spool in [*self._adopted, *([self._spool] if self._spool else [])]:
                with suppress(OSError):
                    spool.close()
            self._adopted, self._spool, self._settings = [], None, None
        return Leftover(self._kept, lost)

    # --- queues; the lock is held -------------------------------------------------------------------------------------

    def _keep(self, parcel: Parcel) -> None:
        lane = self._lanes.setdefault(parcel.source.lane, deque())
        if not lane:
            self._ready.append(parcel.source.lane)
        lane.append(parcel)
        self._in_memory += parcel.size
        if parcel.entry is None:
            self._unspooled[parcel] = None
        self._changed.notify_all()

    def _spill(self) -> bool:
        """Write what stands only in memory to disk, in order. False where the disk takes no more."""
        if self._settings is None:
            return False
        return all(self._to_disk(parcel, read=True) for parcel in list(self._unspooled))

    def _to_disk(self, parcel: Parcel, *, read: bool, beyond_budget: bool = False) -> bool:
        if self._settings is None:
            return False
        try:
            if self._spool is None:
                self._spool = Spool(self._settings.root / self._name, self._settings.budget)
            self._spool.reserve()
            parcel.entry = self._spool.append(pack(parcel), read=read, beyond_budget=beyond_budget)
        except (OSError, SpoolBusy) as error:
            if not self._spool_refuses:
                reason = str(error) if isinstance(error, SpoolFull | SpoolBusy) else f"{type(error).__name__}: {error}"
                log.warning("spool refuses: lines are now counted and lost", reason=reason)
            self._spool_refuses = True
            return False
        if self._spool_refuses:
            log.info("spool takes again")
            self._spool_refuses = False
        self._unspooled.pop(parcel, None)
        self._kept += parcel.lines
        parcel.spool = self._spool
        self.counters.spooled_chunks += 1
        self.counters.spooled_bytes = self._spool.size
        self._changed.notify_all()
        return True

    def _open_spool(self) -> None:
        """Take room for what must be said if the disk fills up; a disk that is full now is tried again when it is needed."""
        if self._settings is not None:
            with suppress(OSError, SpoolBusy):
                self._spool = self._spool or Spool(self._settings.root / self._name, self._settings.budget)
                self._spool.reserve()

    def _note_losses(self) -> bool:
        """Keep on disk what is lost and not yet told, and at the end what would be: the process may be killed at any moment."""
        if self._spool is None:
            return False
        counts = dict(self._lost)
        for parcel in self._unspooled if self._secured else ():
            counts[parcel.source] = counts.get(parcel.source, 0) + parcel.lines
        losses = [loss(source, lines, self._clock()) for source, lines in counts.items() if lines]
        try:
            return self._spool.note(pack(parcel) for parcel in [*self._telling, *losses])
        except OSError:
            return False

    def _refill(self) -> None:
        """Load from disk what memory has room for: one's own first."""
        for spool in [*([self._spool] if self._spool else []), *self._adopted]:
            while self._in_memory < self._memory // 2 and (entry := spool.read()) is not None:
                try:
                    parcel = unpack(entry.payload)
                except msgspec.DecodeError as error:
                    log.warning("spool_entry_left_out", error=str(error))
                    spool.acknowledge(entry)
                    continue
                parcel.spool, parcel.entry = spool, entry
                self._keep(parcel)
        for spool in [each for each in self._adopted if each.empty]:  # nothing in it could be read
            self._adopted.remove(spool)
            spool.close()

    def _tell_losses(self) -> None:
        lost, self._lost = self._lost, {}
        for source, lines in lost.items():
            parcel = loss(source, lines, self._clock())
            self._telling[parcel] = None
            self._keep(parcel)
        self._note_losses()

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        pause = self._backoff[0]
        while not self._stop.is_set():
            producer: Producer | None = None
            try:
                producer = self._connect()
                acknowledged = self.counters.acknowledged
                self._send_until_failure(producer)
                if self.counters.acknowledged > acknowledged:
                    pause = self._backoff[0]
            except Exception as error:  # noqa: BLE001  whatever the client raises: the source must not notice
                self._away(f"{type(error).__name__}: {error}")
            finally:
                if producer is not None:
                    with suppress(Exception):
                        producer.close()
            self._stop.wait(pause)
            pause = min(pause * 2, self._backoff[1])

    def _send_until_failure(self, producer: Producer) -> None:
        with self._lock:
            self._epoch += 1
            epoch = self._epoch
            self._in_flight.clear()
            self._failure = None
            self._ready = deque(self._lanes)
        adopted = float("-inf")
        while not self._stop.is_set():
            with self._changed:
                now = time.monotonic()
                if now - adopted >= self._adopt_every:
                    adopted = now
                    self._adopt_orphans()
                self._refill()
                if self._lost and self.counters.broker_up and (self._closing or now - self._lost_told >= 1):
                    self._lost_told = int(now)
                    self._tell_losses()
                if self._in_flight and now - min(self._in_flight.values()) > SLOW_SECONDS:
                    self._away("no acknowledgement", count=False)
                batch = []
                while self._ready and len(self._in_flight) < IN_FLIGHT:
                    parcel = self._lanes[self._ready.popleft()][0]
                    self._in_flight[parcel] = now
                    batch.append(parcel)
                if not batch and self._failure is None:
                    self._changed.wait(0.5)
            for parcel in batch:
                # Outside the lock: a client may call back at once.
                producer.send(parcel.message).add_done_callback(partial(self._answered, parcel, epoch))
            if self._failure is not None:
                raise TransportError(self._failure)

    def _answered(self, parcel: Parcel, epoch: int, future: "Future[None]") -> None:
        error = None if future.cancelled() else future.exception()
        done = None
        with self._changed:
            if epoch != self._epoch:
                return  # an answer on a connection that was given up: the parcel is being sent again
            del self._in_flight[parcel]
            if future.cancelled() or error is not None:
                self._failure = str(error or "given up")
            else:
                done = parcel.done
                self._forget(parcel)
            self._changed.notify_all()
        if done is not None:
            done()

    def _forget(self, parcel: Parcel) -> None:
        lane = self._lanes[parcel.source.lane]
        lane.popleft()
        if lane:
            self._ready.append(parcel.source.lane)
        else:
            del self._lanes[parcel.source.lane]
        self._in_memory -= parcel.size
        if self._unspooled.pop(parcel, 1) is None and self._secured:
            self._note_losses()
        if parcel in self._telling:
            del self._telling[parcel]
            self._note_losses()
        if parcel.entry is not None and parcel.spool is not None:
            parcel.spool.acknowledge(parcel.entry)
            if parcel.spool in self._adopted and parcel.spool.empty:
                self._adopted.remove(parcel.spool)
                parcel.spool.close()
            elif parcel.spool is self._spool:
                self._kept -= parcel.lines
                self.counters.spooled_bytes = self._spool.size
        self.counters.acknowledged += 1
        self._away_now = False
        if not self.counters.broker_up:
            self.counters.broker_up = True
            log.info("broker takes lines", producer=self._name)

    def _away(self, reason: str, *, count: bool = True) -> None:
        with self._lock:
            self.counters.sends_failed += count
            if self.counters.broker_up or self.counters.sends_failed == 1:
                log.warning("broker is away or slow: lines are kept", producer=self._name, reason=reason)
            self.counters.broker_up, self._away_now = False, True
            self._spill()
            self._changed.notify_all()

    def _adopt_orphans(self) -> None:
        if self._adopt is None or self._adopted:
            return
        self._adopted = list(orphans(self._adopt.root, self._adopt.budget))
        if self._adopted:
            log.info("sending what earlier producers left", spools=len(self._adopted))
