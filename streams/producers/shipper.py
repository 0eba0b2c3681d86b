"""The one way in which records of all producers reach the broker: in order, without ever making their source wait.

Records wait in a bounded queue in memory. What happens when that is full, because the broker is away or slow, is each producer's
choice: lines of pipes go to a spool on disk; log files and a scheduler's events are read again later; GPU samples are perishable.
Only one message of an ordering key (one stream of one producer) is in flight at a time: were a later one written although an
earlier one failed, readers would take the earlier one, sent again, for a repeat.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ..producer import Refused
from .adopted_spools import AdoptedSpools
from .counters import ShippingCounters, Unsent
from .envelope import Envelope, InvalidEntry, Source, loss, pack, unpack
from .send_queue import SendQueue
from .spool import Spool, SpoolBusy, SpoolFull

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..producer import Producer
    from .spool import Entries, SpoolSettings

__all__ = ["Envelope", "Shipper", "Source"]

log = logging.getLogger(__name__)


class SendFailed(Exception):
    """A message was not acknowledged: the connection is given up, and another one made."""


class Shipper:
    """Sends envelopes on a thread of its own.

    Args:
        connect: Makes a producer. May raise; it is called again, later and later, until it does not.
        name: Name of this producer: the directory of its spool.
        spool: Where to keep what cannot be sent. None: `offer` refuses while memory is full, and the caller, who has its lines in a
            file anyway, comes back later.
        perishable: Without a spool: while memory is full the oldest give way to the newest, and are counted.
        adopt: Also send what spools under that root hold whose owners are gone.
        memory: Bytes to keep in memory.
        counters: Numbers to keep up.
        backoff: Seconds before the second attempt to connect, and the longest pause between two.
        adopt_every: Seconds between two looks for spools to adopt.
    """

    def __init__(
        self,
        connect: Callable[[], Producer],
        name: str,
        *,
        spool: SpoolSettings | None = None,
        perishable: bool = False,
        adopt: SpoolSettings | None = None,
        memory: int = 8 << 20,
        counters: ShippingCounters | None = None,
        clock: Callable[[], float] = time.time,
        backoff: tuple[float, float] = (0.25, 10.0),
        adopt_every: float = 30.0,
    ) -> None:
        self.counters = counters or ShippingCounters()
        self.refused = 0
        """Lines that were refused for good: they will never be accepted."""
        self.refusal = ""
        """Why they were."""
        self._connect = connect
        self._name = name
        self._settings = spool
        self._perishable = perishable
        self._adopted = AdoptedSpools(adopt, adopt_every)
        self._memory = memory
        self._clock = clock
        self._backoff = backoff
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._stop = threading.Event()
        self._closing = False
        self._queue = SendQueue()
        self._epoch = 0
        self._failure: str | None = None
        self._spool: Spool | None = None
        self._kept = 0
        self._away_now = False
        self._lost: dict[Source, int] = {}
        self._telling: dict[Envelope, None] = {}
        self._lost_told = 0
        self._noted = False
        self._spool_refuses = False
        with self._lock:
            self._open_spool()
        self._thread = threading.Thread(target=self._run, name=f"shipper {name}", daemon=True)
        self._thread.start()

    def offer(self, envelope: Envelope) -> bool:
        """Take over `envelope` and return at once, at worst after one write to the local disk.

        Returns:
            False where it was not taken: without a spool, memory is full, come back later; with one, the disk is full too, and
            its lines are counted as lost.
        """
        with self._lock:
            room = self._queue.size + envelope.size <= self._memory
            if self._settings is None:
                while not room and self._perishable and self._drop_oldest():
                    room = self._queue.size + envelope.size <= self._memory
                if room:
                    self._keep(envelope)
                return room
            behind = self._spool is not None and self._spool.unread
            if room and not behind:
                self._keep(envelope)
                if not self.counters.broker_up:
                    self._spill()
                return True
            if (behind or self._spill()) and self._to_disk(envelope, read=False):
                return True
            self.lose(envelope.source, envelope.lines)
            return False

    def lose(self, source: Source, lines: int, place: str = "") -> None:  # noqa: ARG002  the counts of all places are added up
        """Count lines that are given up; a record states it as soon as sending works."""
        with self._lock:
            self._lost[source] = self._lost.get(source, 0) + lines
            self.counters.lost += lines
            self._note_losses()

    @property
    def idle(self) -> bool:
        """True where everything of its own is acknowledged."""
        with self._lock:
            return not self._queue and not self._lost and (self._spool is None or self._spool.empty)

    @property
    def losses_kept(self) -> bool:
        """True where all counts would outlast this process, or are acknowledged."""
        with self._lock:
            return self._noted or not (self._lost or self._telling)

    @property
    def away(self) -> bool:
        """True from a failure until the broker acknowledges something."""
        with self._lock:
            return self._away_now

    def secure(self, timeout: float) -> Unsent:
        """Wait up to `timeout` seconds for acknowledgements, then put on disk what is only in memory. Sending goes on.

        A broker that is known to be away is not waited for.

        Returns:
            What waits for its acknowledgement, and what a crash would now lose.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.idle or self._away_now, timeout)
            self._spill()
            return Unsent(
                self._kept, sum(envelope.lines for envelope in self._queue.only_here) + sum(self._lost.values())
            )

    def close(self, timeout: float) -> Unsent:
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
            lost = sum(envelope.lines for envelope in self._queue.only_here) + sum(self._lost.values())
            for envelope in self._queue.only_here:
                self._lost[envelope.source] = self._lost.get(envelope.source, 0) + envelope.lines
            self._queue.only_here.clear()
            if not self._note_losses():
                counts = [loss(source, count, self._clock()) for source, count in self._lost.items()]
                self._noted = all(self._to_disk(count, read=False, beyond_budget=True) for count in counts)
            self._adopted.close()
            if self._spool is not None:
                with suppress(OSError):
                    self._spool.close()
            self._spool, self._settings = None, None
        return Unsent(self._kept, lost)

    # --- queues; the lock is held -------------------------------------------------------------------------------------

    def _keep(self, envelope: Envelope) -> None:
        self._queue.put(envelope)
        self.counters.waiting = len(self._queue)
        self._changed.notify_all()

    def _drop_oldest(self) -> bool:
        """Give up the oldest message that is not in flight. False where there is none."""
        if (oldest := self._queue.drop_oldest()) is None:
            return False
        self.counters.lost += oldest.lines
        return True

    def _spill(self) -> bool:
        """Write what is only in memory to disk, in order. False where the disk takes no more."""
        if self._settings is None:
            return False
        return all(self._to_disk(envelope, read=True) for envelope in list(self._queue.only_here))

    def _to_disk(self, envelope: Envelope, *, read: bool, beyond_budget: bool = False) -> bool:
        if self._settings is None:
            return False
        try:
            if self._spool is None:
                self._spool = Spool(self._settings.root / self._name, self._settings.budget)
            self._spool.reserve()
            envelope.entry = self._spool.append(pack(envelope), read=read, beyond_budget=beyond_budget)
        except (OSError, SpoolBusy) as error:
            if not self._spool_refuses:
                reason = str(error) if isinstance(error, (SpoolFull, SpoolBusy)) else f"{type(error).__name__}: {error}"
                log.warning("spool_full", extra={"reason": reason, "then": "lines are counted and lost"})
            self._spool_refuses = True
            return False
        if self._spool_refuses:
            log.info("spool_takes_again")
            self._spool_refuses = False
        self._queue.only_here.pop(envelope, None)
        self._kept += envelope.lines
        envelope.spool = self._spool
        self.counters.spooled_chunks += 1
        self.counters.spooled_bytes = self._spool.size
        self._changed.notify_all()
        return True

    def _open_spool(self) -> None:
        """Reserve room for the records that are needed if the disk fills up; a disk that is full now is tried again when it is needed."""
        if self._settings is not None:
            with suppress(OSError, SpoolBusy):
                self._spool = self._spool or Spool(self._settings.root / self._name, self._settings.budget)
                self._spool.reserve()

    def _note_losses(self) -> bool:
        """Keep on disk what is lost and not yet acknowledged: the process may be killed at any moment."""
        losses = [loss(source, lines, self._clock()) for source, lines in self._lost.items() if lines]
        self._noted = False
        if self._spool is not None:
            with suppress(OSError):
                self._noted = self._spool.note(pack(envelope) for envelope in [*self._telling, *losses])
        return self._noted

    def _refill(self) -> None:
        """Load from disk what memory has room for: one's own first."""
        own: list[Entries] = [self._spool] if self._spool else []
        for spool in [*own, *self._adopted.spools]:
            while self._queue.size < self._memory // 2 and (entry := spool.read()) is not None:
                try:
                    envelope = unpack(entry.payload)
                except InvalidEntry as error:
                    log.warning("spool_entry_left_out", extra={"error": str(error)})
                    spool.acknowledge(entry)
                    continue
                envelope.spool, envelope.entry = spool, entry
                self._keep(envelope)
        self._adopted.let_go_of_empty()  # nothing in them could be read

    def _report_losses(self) -> None:
        lost, self._lost = self._lost, {}
        for source, lines in lost.items():
            envelope = loss(source, lines, self._clock())
            self._telling[envelope] = None
            self._keep(envelope)
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
            self._queue.take_again()
            self._failure = None
        while not self._stop.is_set():
            with self._changed:
                now = time.monotonic()
                self._adopted.look(now)
                self._refill()
                if self._lost and self.counters.broker_up and (self._closing or now - self._lost_told >= 1):
                    self._lost_told = int(now)
                    self._report_losses()
                # The broker counts as away once a message is unacknowledged for 2 s: what is in memory goes to disk, too.
                if (flying := self._queue.in_flight) and now - min(flying.values()) > 2.0:
                    self._away("no acknowledgement", count=False)
                # At most 64 messages, each of another ordering key, wait for their acknowledgement at once.
                batch = self._queue.pop_due(64, now)
                if not batch and self._failure is None:
                    self._changed.wait(0.5)
            for envelope in batch:
                # Outside the lock: a client may call back at once.
                producer.send(envelope.message).add_done_callback(partial(self._answered, envelope, epoch))
            if self._failure is not None:
                raise SendFailed(self._failure)

    def _answered(self, envelope: Envelope, epoch: int, future: Future[None]) -> None:
        error = None if future.cancelled() else future.exception()
        done = None
        with self._changed:
            if epoch != self._epoch:
                return  # an answer on a connection that was given up: the envelope is being sent again
            del self._queue.in_flight[envelope]
            if future.cancelled() or (error is not None and not isinstance(error, Refused)):
                self._failure = str(error or "given up")
            else:
                done = envelope.done
                if isinstance(error, Refused):
                    self._refused(envelope, error)
                else:
                    self.counters.acknowledged += 1
                self._forget(envelope)
                self._answers()
            self._changed.notify_all()
        if done is not None:
            done(error if isinstance(error, Refused) else None)

    def _refused(self, envelope: Envelope, error: Refused) -> None:
        if not self.refusal:
            log.error("refused", extra={"producer": self._name, "reason": str(error)})
        self.refusal = str(error)
        self.counters.lost += envelope.lines
        self.refused += envelope.lines

    def _forget(self, envelope: Envelope) -> None:
        self._queue.answered(envelope)
        self.counters.waiting = len(self._queue)
        if envelope in self._telling:
            del self._telling[envelope]
            self._note_losses()
        if envelope.entry is not None and envelope.spool is not None:
            envelope.spool.acknowledge(envelope.entry)
            if envelope.spool is self._spool:
                self._kept -= envelope.lines
                self.counters.spooled_bytes = self._spool.size
            else:
                self._adopted.let_go_of_empty()

    def _answers(self) -> None:
        self._away_now = False
        if not self.counters.broker_up:
            self.counters.broker_up = True
            log.info("broker_up", extra={"producer": self._name})

    def _away(self, reason: str, *, count: bool = True) -> None:
        with self._lock:
            self.counters.sends_failed += count
            if self.counters.broker_up or self.counters.sends_failed == 1:
                log.warning(
                    "broker_away", extra={"producer": self._name, "reason": reason, "then": "it is tried again"}
                )
            self.counters.broker_up, self._away_now = False, True
            self._spill()
            self._changed.notify_all()
