"""Decisions for a scheduler that has no actuator: an iterator with explicit acknowledgement, directly on kafka-python.

An example:

with subscribe("localhost:9092", group="my-scheduler") as decisions:
    for delivery in decisions:
        carry_out(delivery.decision)
        delivery.ack()
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import kafka
import structlog
from kafka.errors import KafkaError, RetriableError

from schedmate_records import BY_RECORD, Action, Decision, InvalidRecord, Mode, Position, UserError, decode_any_version
from streams.kafka import COMMIT_MS, MEMBERSHIP_ERRORS
from streams.resilience import Outage

from . import dealt_with
from .delivery import DeadRecord, Delivery, SubscriberCounters
from .offsets import Offsets
from .signing import SigningKeys

log = structlog.get_logger(__name__)

TOPIC = BY_RECORD[Decision].name
PAUSE_LIMIT_S = 1.0
"""The longest pause while the broker is away, for the same reason."""


class SubscriptionError(UserError):
    """The decisions cannot be read; the message states what was expected, what came, and what to do."""


class Subscription:
    """An endless iterator of deliveries. Use it as a context manager, in one thread. See `subscribe`."""

    def __init__(
        self,
        consumer: Any,
        *,
        dealt: dealt_with.DealtWith | None,
        keys: SigningKeys | None,
        since: float | None,
        actions: Collection[Action] | None,
        modes: Collection[Mode] | None,
        timeout: float | None,
        on_dead: Callable[[DeadRecord], None] | None,
        clock: Callable[[], float],
    ) -> None:
        self.counters = SubscriberCounters()
        self._consumer = consumer
        self._dealt = dealt
        self._keys = keys
        self._since = since
        self._sought: set[int] = set()
        self._actions = actions
        self._modes = modes
        self._timeout = timeout
        self._on_dead = on_dead
        self._clock = clock
        self._waiting: deque[Any] = deque()
        self._offsets = Offsets()
        self._lock = threading.Lock()
        self._thread = threading.get_ident()
        self._reading = Outage(f"Kafka, topic {TOPIC}", limit_s=PAUSE_LIMIT_S)
        self._reading_results = Outage(f"Kafka, topic {dealt_with.TOPIC}", limit_s=PAUSE_LIMIT_S)
        consumer.subscribe([TOPIC])

    def __iter__(self) -> Iterator[Delivery]:
        return self

    def __next__(self) -> Delivery:
        """Return the next decision; waits for it.

        Raises:
            StopIteration: None came within `timeout` seconds.
            SubscriptionError: The broker refuses for good.
        """
        self._thread = threading.get_ident()
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        while True:
            self._commit()
            if delivery := self._next_waiting():
                return delivery
            if deadline is not None and time.monotonic() > deadline:
                raise StopIteration
            self._poll()

    def lag(self) -> int:
        """Return the number of messages of the topic, in the partitions of this member, that were not handed out yet.

        Raises:
            SubscriptionError: The broker does not answer, or refuses.
        """
        waiting = len(self._waiting)
        try:
            parts = list(self._consumer.assignment())
            ends = self._consumer.end_offsets(parts)
            return waiting + sum(max(0, int(ends[part]) - int(self._consumer.position(part))) for part in parts)
        except KafkaError as error:
            raise SubscriptionError(
                f"expected the ends of {TOPIC}, got {error!r}: see the broker and its rights"
            ) from error

    def close(self) -> None:
        """Commit what is acknowledged, and leave the group."""
        try:
            self._commit()
        except SubscriptionError as error:
            log.warning("not_committed", error=str(error))
        self._consumer.close(autocommit=False, timeout_ms=5000)
        if self._dealt:
            self._dealt.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _next_waiting(self) -> Delivery | None:
        """Return the first decision of those read that is to be delivered; None where there is none, or the broker is away."""
        while self._waiting:
            try:
                delivery = self._delivery(self._waiting[0])
            except RetriableError as error:
                time.sleep(self._reading_results.failed(repr(error)))
                return None
            except KafkaError as error:
                raise SubscriptionError(
                    f"expected to read decision-results, got {error!r}: grant the right to read it, or read all decisions"
                ) from error
            self._reading_results.succeeded()
            self._waiting.popleft()
            if delivery:
                return delivery
        return None

    def _poll(self) -> None:
        try:
            # The iteration ends, and an acknowledgement is committed, at most 500 ms late.
            batches = self._consumer.poll(timeout_ms=500)
            moved = self._replay()
        except RetriableError as error:  # it is away; while it is looked for, kafka-python raises instead of waiting
            time.sleep(self._reading.failed(repr(error)))
            return
        except KafkaError as error:
            raise SubscriptionError(
                f"expected decisions from Kafka, got {error!r}: see the broker and its rights"
            ) from error
        if batches:  # no messages may mean no broker
            self._reading.succeeded()
        self._drop_lost()
        for part, records in batches.items():
            if part in moved:
                continue  # fetched from the group's earlier position
            for record in records:
                with self._lock:
                    self._offsets.add(record.partition, record.offset)
                self._waiting.append(record)

    def _replay(self) -> set[Any]:
        """Go back, or on, to `since` in every partition that this member gets for the first time, and return those."""
        new = {part for part in self._consumer.assignment() if part.partition not in self._sought}
        if self._since is None or not new:
            return set()
        found = self._consumer.offsets_for_times(dict.fromkeys(new, int(self._since * 1000)))
        ends = self._consumer.end_offsets(list(new))
        for part in new:
            self._consumer.seek(part, found[part].offset if found.get(part) else ends[part])
        self._sought |= {part.partition for part in new}
        return new

    def _delivery(self, record: Any) -> Delivery | None:
        """Return a record's decision; None where it is none, is not asked for, or is over. Such a record counts as acknowledged."""
        position = Position(record.topic, record.partition, record.offset)
        try:
            decision = decode_any_version(Decision, record.value or b"")
        except InvalidRecord as error:
            self.counters.dead += 1
            log.warning("dead_record", topic=position.topic, partition=position.partition, offset=position.offset)
            if self._on_dead:
                self._on_dead(DeadRecord(position, record.value or b"", str(error)))
            self._settle(position)
            return None
        wanted_action = self._actions is None or decision.action in self._actions
        if not wanted_action or (self._modes is not None and decision.mode not in self._modes):
            self.counters.skipped += 1
            self._settle(position)
            return None
        signed = self._keys.verifies(decision) if self._keys else None
        if signed is False:
            self.counters.unsigned += 1
            log.warning("decision_not_signed", decision=decision.id, key=decision.signature.partition(":")[0])
            if self._dealt:
                self._settle(position)
                return None
        expired = self._clock() > min(decision.expires, decision.time + dealt_with.BACK)
        if self._dealt and (expired or self._dealt.knows(decision.id)):
            self.counters.over += 1
            self._settle(position)
            return None
        self.counters.delivered += 1
        self.counters.expired += expired
        return Delivery(decision, position, self._acknowledge, expired=expired, signed=signed)

    def _acknowledge(self, position: Position) -> None:
        self.counters.acknowledged += self._settle(position)
        if threading.get_ident() == self._thread:
            self._commit()

    def _settle(self, position: Position) -> bool:
        with self._lock:
            return self._offsets.settle(position.partition, position.offset)

    def _commit(self) -> None:
        """Commit, for each partition, up to the first decision that is not acknowledged."""
        with self._lock:
            ready = self._offsets.ready()
        if not ready:
            return
        wanted = {
            kafka.TopicPartition(TOPIC, partition): kafka.structs.OffsetAndMetadata(offset, "", -1)
            for partition, offset in ready.items()
        }
        try:
            self._consumer.commit(wanted, timeout_ms=COMMIT_MS)
        except MEMBERSHIP_ERRORS:
            log.info("partitions_moved", detail="the new owner gets uncommitted records again")
            return
        except RetriableError as error:  # it did not answer, or died while it was asked
            log.warning("not_committed", error=repr(error), detail="the next commit includes it")
            return
        except KafkaError as error:
            raise SubscriptionError(
                f"expected Kafka to commit, got {error!r}: see the broker and its rights"
            ) from error
        with self._lock:
            self._offsets.committed(ready)

    def _drop_lost(self) -> None:
        """Forget what is left of partitions that other members have now.

        A rebalance takes every partition away for a moment. From one that comes back at once kafka-python goes on behind what it has
        returned, so what waits here must stay: it would not be read again.
        """
        owned = {partition.partition for partition in self._consumer.assignment()}
        with self._lock:
            self._offsets.keep(owned)
        self._waiting = deque(record for record in self._waiting if record.partition in owned)


def subscribe(
    brokers: str | Sequence[str] = "localhost:9092",
    group: str = "my-scheduler",
    *,
    actions: Collection[Action] | None = None,
    modes: Collection[Mode] = (Mode.ACT,),
    everything: bool = False,
    keys: SigningKeys | Path | None = None,
    since: float | None = None,
    timeout: float | None = None,
    on_dead: Callable[[DeadRecord], None] | None = None,
    clock: Callable[[], float] = time.time,
    **kafka_options: Any,
) -> Subscription:
    """Subscribe to the decisions that are to be carried out: in mode `act`, in time, and not dealt with by the bridge.

    What the bridge has begun, refused or retracted is left out, as recorded in `decision-results` when the decision is handed out.

    Every decision is delivered at least once to each group: again after a crash or when members come and go, until it is
    acknowledged. Repeats have the same `id`. A new group starts with the oldest decision that Kafka still has. Members of one group share
    the partitions; all decisions about one job come to one member, in order.

    Args:
        brokers: `host:port` of some brokers, as text with commas or as a list.
        group: Name of the group; acknowledgements are kept under it.
        actions: Only these; None for all.
        modes: Only these. Decisions stand in shadow mode where the bridge's own actions are not turned on.
        everything: Deliver decisions of all modes, those that are over too. Then look at `mode` and `Delivery.expired`, and carry
            nothing out.
        keys: Keys one of which must have signed a decision, or a file of them (`bridge.signing_keys_file`). One that none of them signed
            is counted, logged, and left out; with `everything` it is delivered, with `Delivery.signed` False.
        since: Begin with what Kafka took in at this time, in seconds since 1970, whatever the group's position is: what it acknowledged
            since then is read again. None: continue from the group's position.
        timeout: End the iteration after so many seconds without a decision; None waits for ever.
        on_dead: Called with every message that is no decision, before it is skipped.
        clock: Seconds since 1970.
        **kafka_options: Passed to `kafka.KafkaConsumer` (`security_protocol`, `sasl_mechanism`, `max_poll_interval_ms`, …). Between two
            decisions no more than `max_poll_interval_ms` (5 minutes) may pass, or the group gives the partitions to others.

    Raises:
        SubscriptionError: No broker answers, or a topic is not there.
        SigningKeyError: The file of keys cannot be used.
    """
    keys = SigningKeys.read(keys) if isinstance(keys, Path) else keys
    listed = brokers.split(",") if isinstance(brokers, str) else list(brokers)
    fixed = {"enable_auto_commit": False, "auto_offset_reset": "earliest", "allow_auto_create_topics": False}
    try:
        consumer = kafka.KafkaConsumer(bootstrap_servers=listed, group_id=group, **{**kafka_options, **fixed})
        needed = [TOPIC] if everything else [TOPIC, dealt_with.TOPIC]
        missing = [topic for topic in needed if not consumer.partitions_for_topic(topic)]
    except KafkaError as error:
        where = ",".join(listed)
        raise SubscriptionError(
            f"expected a Kafka broker at {where}, got {error!r}: is it running and reachable?"
        ) from error
    if missing:
        consumer.close(autocommit=False)
        raise SubscriptionError(f"expected the topic {missing[0]}, which does not exist: run `schedmate topics create`")
    alone = {**kafka_options, **fixed, "bootstrap_servers": listed, "group_id": None}
    return Subscription(
        consumer,
        dealt=None if everything else dealt_with.DealtWith(kafka.KafkaConsumer(**alone)),
        keys=keys,
        since=since,
        actions=actions,
        modes=None if everything else modes,
        timeout=timeout,
        on_dead=on_dead,
        clock=clock,
    )
