"""Reads topics in batches and hands them on: what the sink and the bridge run in."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event

import structlog

from schedmate_records import InvalidRecord, Position, Record, UserError

from ..accept import accept, refuse
from ..resilience import Outage, retry
from ..transport import BrokerUnavailable, Consumer, Message, Producer, outgoing
from .failing import FailingWatch
from .metrics import PumpMetrics

log = structlog.get_logger(__name__)

ACKNOWLEDGED_S = 90.0
"""Time limit for the acknowledgement of a dead letter, in seconds: a producer gives up before that, and reports why."""

COMMIT_AGAIN_S = 5.0
"""Seconds until a failed commit is repeated if no further message arrives."""

Batch = Sequence[tuple[Position, Record]]


@dataclass
class Pump:
    """Polls, decodes, hands on, commits; in that order, so that a crash repeats work and never skips it.

    Attributes:
        consumer: Where messages come from.
        producer: Where dead letters go. A broker that is away is waited for.
        handle: Takes a batch and returns once its effects last. It may be given an empty batch when nothing came for `seconds`. An
            `UserError` error ends the pump; any other is laid to a record, which is found and becomes a dead letter. So
            a record may be handed on twice.
        rows: Maximum messages in a batch.
        seconds: Maximum seconds before a batch is written.
        stop: Ends the waiting for a broker.
        dead_letters: False where another program reads the same topics and writes their dead letters.
    """

    consumer: Consumer
    producer: Producer
    handle: Callable[[Batch], None]
    rows: int = 500
    seconds: float = 0.1
    metrics: PumpMetrics = field(default_factory=PumpMetrics)
    failing: FailingWatch = field(default_factory=FailingWatch)
    stop: Event = field(default_factory=Event)
    dead_letters: bool = True
    _commit_again_at: float = math.inf
    _outage: Outage = field(default_factory=lambda: Outage("Kafka", consequence="a dead letter is written again"))

    def run(self, stop: Event) -> None:
        """Pump until `stop` is set."""
        self.stop = stop
        while not stop.is_set():
            try:
                self.step()
            except BrokerUnavailable:
                if not stop.is_set():
                    raise

    def step(self) -> int:
        """Handle one batch and return the number of its messages."""
        messages = self._gather()
        batch: list[tuple[Message, Record]] = []
        for message in messages:
            try:
                batch.append((message, accept(message)))
            except InvalidRecord as error:
                self._bury(message, str(error), "decode")
            except Exception as error:
                log.exception("message_unreadable", position=message.position)
                self._bury(message, f"reading it failed with {str(error)[:300]!r}; please report this", "decode")
        self.metrics.lag.set(sum(self.consumer.lag().values()) + len(messages))
        began = time.perf_counter()
        self._handle(batch)
        self.failing.handled(len(messages))
        if messages or time.monotonic() >= self._commit_again_at:
            self._commit_again_at = math.inf if self.consumer.commit() else time.monotonic() + COMMIT_AGAIN_S
        if messages:
            self.metrics.messages.inc(len(messages))
            self.metrics.batch_duration.observe(time.perf_counter() - began)
        self.metrics.lag.set(sum(self.consumer.lag().values()))
        return len(messages)

    def _handle(self, batch: Sequence[tuple[Message, Record]]) -> None:
        """Hand a batch on; where that fails, in halves, until the records are found that make it fail."""
        try:
            self.handle([(message.position, record) for message, record in batch])
        except UserError:
            raise
        except Exception as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                self._handle(batch[:middle])
                self._handle(batch[middle:])
                return
            if not batch:
                raise
            ((message, _),) = batch
            log.exception("record_failed", position=message.position)
            self.failing.failed(str(message.key))
            self._bury(message, f"dealing with it failed with {str(error)[:300]!r}; please report this", "process")

    def _bury(self, message: Message, reason: str, stage: str) -> None:
        if not self.dead_letters:
            return
        self.metrics.dead_letters.inc()
        letter = outgoing(refuse(message, reason, stage))

        def write() -> None:
            try:
                self.producer.send(letter).result(ACKNOWLEDGED_S)
            except TimeoutError as error:
                raise BrokerUnavailable(
                    f"expected a dead letter to be acknowledged within {ACKNOWLEDGED_S:g} s"
                ) from error

        retry(write, self._outage, on=BrokerUnavailable, stop=self.stop)

    def _gather(self) -> list[Message]:
        gathered: list[Message] = []
        deadline = time.monotonic() + self.seconds
        while len(gathered) < self.rows and (left := deadline - time.monotonic()) > 0:
            gathered += self.consumer.poll(left, self.rows - len(gathered))
        return gathered
