"""What is sampled and not yet sent: bounded, and emptied in a thread of its own.

Samples are perishable. While the broker is away the newest are worth more than the oldest, so the oldest are given up, and
counted. (Lines of logs are not perishable: they go through a spool on disk.)
"""

import contextlib
import heapq
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import structlog
from prometheus_client import Counter, Gauge

from records import Record
from streams.transport import Outgoing, Producer, TransportError, outgoing

log = structlog.get_logger(__name__)

RETRY_S = (1.0, 30.0)
"""First and longest pause before the broker is tried again; doubled in between."""

ATTEMPTS = 10
"""How often one record is handed to a producer. Kafka's own client goes on for a minute each time."""


@dataclass(order=True, slots=True)
class _Waiting:
    """A record on its way, ordered by when it came."""

    number: int
    message: Outgoing = field(compare=False)
    attempts: int = field(default=0, compare=False)


class OutboxMetrics:
    """What became of the records."""

    def __init__(self) -> None:
        self.sent = Counter("schedmate_gpu_outbox_sent", "Acknowledged by the broker.", registry=None)
        self.dropped = Counter(
            "schedmate_gpu_outbox_dropped",
            "Given up: the oldest of a full queue, refused ten times, or unsent at the end.",
            registry=None,
        )
        self.queued = Gauge("schedmate_gpu_outbox_queued", "Samples that wait now.", registry=None)


class Outbox:
    """Takes records at once, sends them when it can.

    Args:
        producer_factory: Connects to the broker; may block, and may raise `TransportError`.
        limit: How many records may wait. The memory it takes is `limit` + `in_flight` records of about one kilobyte.
        in_flight: How many may be handed to the producer without being acknowledged.
        retry: First and longest pause, in seconds, after the broker refused.
    """

    def __init__(
        self,
        producer_factory: Callable[[], Producer],
        limit: int = 10_000,
        in_flight: int = 1_000,
        retry: tuple[float, float] = RETRY_S,
    ) -> None:
        self.metrics = OutboxMetrics()
        self._factory, self._limit, self._in_flight_limit, self._retry = producer_factory, limit, in_flight, retry
        self._queue: list[_Waiting] = []  # a heap, the oldest first
        self._numbers = count()
        self._pause = 0.0
        self._in_flight = 0
        self._away = False
        self._closing = False
        self._changed = threading.Condition()
        self._producer: Producer | None = None
        self._thread = threading.Thread(target=self._run, name="gpu-outbox", daemon=True)
        self._thread.start()

    def put(self, records: Iterable[Record]) -> None:
        """Queue `records`; never blocks. Where the queue is full the oldest give way."""
        waiting = [_Waiting(next(self._numbers), outgoing(record)) for record in records]
        with self._changed:
            for one in waiting:
                self._enqueue(one)
            self._settle()

    def close(self, timeout: float = 5.0) -> None:
        """Send what can be sent within `timeout` seconds, count the rest as dropped, let go of the producer."""
        until = time.monotonic() + timeout
        with self._changed:
            self._changed.wait_for(lambda: not self._queue and not self._in_flight, timeout)
            self._closing = True
            self.metrics.dropped.inc(len(self._queue) + self._in_flight)
            self._in_flight = 0
            self._queue.clear()
            self._settle()
        self._thread.join(max(0.1, until - time.monotonic()))

    def _enqueue(self, one: _Waiting) -> None:
        """Queue `one` in its place. The caller holds the lock."""
        heapq.heappush(self._queue, one)
        while len(self._queue) > self._limit:
            heapq.heappop(self._queue)
            self.metrics.dropped.inc()

    def _settle(self) -> None:
        """Publish a change of the queue. The caller holds the lock."""
        self.metrics.queued.set(len(self._queue))
        self._changed.notify_all()

    def _run(self) -> None:
        while (one := self._take()) is not None:
            try:
                if self._producer is None:
                    self._producer = self._factory()
                sending = self._producer.send(one.message)
            except TransportError as error:
                self._disconnect()
                self._done(one, error)
            else:
                sending.add_done_callback(partial(self._acknowledged, one))
        self._disconnect()

    def _take(self) -> _Waiting | None:
        """Return the next record once it may be sent, or None at the end."""
        with self._changed:
            if self._pause:
                self._changed.wait_for(lambda: self._closing or not self._pause, self._pause)
            self._changed.wait_for(lambda: self._closing or (self._queue and self._in_flight < self._in_flight_limit))
            if self._closing:
                return None
            self._in_flight += 1
            one = heapq.heappop(self._queue)
            self._settle()
            return one

    def _acknowledged(self, one: _Waiting, sending: "Future[None]") -> None:
        """Learn what became of `one`; called in the producer's thread."""
        one.attempts += 1
        self._done(one, CancelledError() if sending.cancelled() else sending.exception())

    def _done(self, one: _Waiting, failure: BaseException | None) -> None:
        """Count `one` as sent, or queue it again in its old place and pause."""
        with self._changed:
            if self._closing:
                return
            self._in_flight -= 1
            if failure is None:
                self.metrics.sent.inc()
                self._pause = 0.0
            else:
                self._pause = min(max(2 * self._pause, self._retry[0]), self._retry[1])
                if one.attempts < ATTEMPTS:
                    self._enqueue(one)
                else:
                    self.metrics.dropped.inc()
            self._say("" if failure is None else str(failure))
            self._settle()

    def _say(self, error: str) -> None:
        """Tell once that the broker went away, and once that it is back. The caller holds the lock."""
        if error and not self._away:
            log.warning("broker_away", error=error, queued=len(self._queue), limit=self._limit)
        elif self._away and not error:
            log.info("broker_back", queued=len(self._queue))
        self._away = bool(error)

    def _disconnect(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            with contextlib.suppress(TransportError):
                producer.close()
