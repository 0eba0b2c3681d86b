"""A `Consumer` on Kafka, and reading a topic back from its beginning."""

import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import kafka
import structlog
from kafka.errors import (
    CommitFailedError,
    IllegalGenerationError,
    KafkaError,
    RebalanceInProgressError,
    RetriableError,
    UnknownMemberIdError,
)

from schedmate_records import Position

from ..partition import partition_of
from ..resilience import Outage
from ..transport import Message, TransportError
from .admin import unreadable
from .connection import Connection
from .errors import refused, unreachable
from .standby import OneMemberAssignor

log = structlog.get_logger(__name__)

FETCH = {
    "enable_auto_commit": False,
    "auto_offset_reset": "earliest",
    "allow_auto_create_topics": False,
    "fetch_max_wait_ms": 100,  # a verdict within a second: the broker holds an empty answer back no longer
    "max_partition_fetch_bytes": 16 << 20,  # the largest message of any topic
    "metadata_max_age_ms": 30_000,  # partitions that an operator adds are found so soon
}
"""Common options of consumers."""
COMMIT_MS = 5000
"""Time limit of a commit. Without one kafka-python waits for a broker for ever, and cannot be stopped."""

MEMBERSHIP_ERRORS = (CommitFailedError, IllegalGenerationError, RebalanceInProgressError, UnknownMemberIdError)
"""The group changed its members: the next poll joins it again. None of them is retriable for kafka-python."""


def open_consumer(connection: Connection, **config: Any) -> Any:
    """Return a consumer of kafka-python that commits nothing by itself. Raises `TransportError` where no broker answers."""
    try:
        return kafka.KafkaConsumer(**connection.config() | FETCH | config)
    except KafkaError as error:
        raise unreachable(connection, error) from error


def as_message(record: Any) -> Message:
    """Return a record of kafka-python as a message."""
    return Message(
        Position(record.topic, record.partition, record.offset),
        record.key,
        record.value or b"",
        record.timestamp / 1000,
    )


class KafkaConsumer:
    """Reads `topics` as a member of `group`, from the beginning where the group has committed nothing.

    `session_timeout_s` is how long a dead member keeps its partitions. With `standby`, one member has all partitions and the others
    stand by; all members of a group must be alike in that.
    """

    def __init__(
        self,
        connection: Connection,
        group: str,
        topics: Sequence[str],
        session_timeout_s: float = 10.0,
        *,
        standby: bool = False,
    ) -> None:
        self._connection = connection
        self._doing = f"read {', '.join(topics)} as a member of the group {group}"
        self._consumer = open_consumer(
            connection,
            group_id=group,
            session_timeout_ms=int(session_timeout_s * 1000),
            heartbeat_interval_ms=int(session_timeout_s * 1000 / 4),
            **({"partition_assignment_strategy": [OneMemberAssignor]} if standby else {}),
        )
        try:
            # Joining before the topics' metadata is here would get the group an assignment without them.
            for topic in topics:
                partitions_of(connection, self._consumer, topic)
        except (KafkaError, TransportError) as error:
            self.close()
            raise refused(connection, error, self._doing) if isinstance(error, KafkaError) else error from error
        self._consumer.subscribe(list(topics))
        self._outage = Outage("Kafka")

    @property
    def active(self) -> bool:
        """True while this member has partitions to read."""
        return bool(self._consumer.assignment())

    def poll(self, timeout: float, limit: int = 500) -> Sequence[Message]:
        """Return up to `limit` messages, or none after `timeout` seconds. A broker that is away is waited for."""
        try:
            batches = self._consumer.poll(timeout_ms=int(timeout * 1000), max_records=limit)
        except RetriableError as error:
            # kafka-python waits by itself, except while it looks for the group's coordinator.
            time.sleep(min(timeout, self._outage.failed(repr(error))))
            return ()
        except KafkaError as error:
            raise refused(self._connection, error, self._doing) from error
        if batches:  # no messages may mean no broker
            self._outage.succeeded()
        return [as_message(record) for records in batches.values() for record in records]

    def commit(self) -> bool:
        """Commit all that was polled. A partition that went to another member meanwhile is left to it.

        While the broker is away nothing is committed, and False is returned: the next commit includes it, and a crash before that
        repeats the work.
        """
        try:
            self._consumer.commit(timeout_ms=COMMIT_MS)
        except MEMBERSHIP_ERRORS as error:
            log.info(
                "partitions_moved_before_commit",
                error=type(error).__name__,
                consequence="their owner repeats the work",
            )
        except RetriableError as error:  # it did not answer, or died while it was asked
            log.warning("commit_not_taken", error=repr(error), consequence="the next one includes it")
            return False
        except KafkaError as error:
            raise refused(self._connection, error, self._doing) from error
        return True

    def lag(self) -> dict[tuple[str, int], int]:
        """Return the number of messages not yet polled, by topic and partition, as the newest fetch saw it."""
        behind = {}
        for part in self._consumer.assignment():
            end = self._consumer.highwater(part)
            at = None if end is None else self._position(part)
            if end is not None and at is not None:
                behind[part.topic, part.partition] = max(end - at, 0)
        return behind

    def _position(self, part: Any) -> int | None:
        """Return the next offset of `part`; None while the broker would have to be asked for it."""
        try:
            found: int | None = self._consumer.position(part, timeout_ms=0)
        except RetriableError:
            return None
        return found

    def close(self) -> None:
        """Leave the group without committing."""
        self._consumer.close(autocommit=False, timeout_ms=5000)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_back(
    connection: Connection,
    topics: Sequence[str],
    since: float | None = None,
    timeout: float = 60.0,
    *,
    until: str = "",
) -> Iterator[Message]:
    """Yield what `topics` hold now, from `since` (seconds since 1970; None: the beginning) to their present ends, without a group.

    With `until`, a consumer group, each partition ends where that group has committed.

    Raises:
        TransportError: No broker, an unknown topic, or no progress for `timeout` seconds.
    """
    consumer = open_consumer(connection, group_id=until or None)
    try:
        parts = parts_of(connection, consumer, topics)
        consumer.assign(parts)
        ends = consumer.end_offsets(parts)
        starts = consumer.beginning_offsets(parts) if since is None else offsets_since(consumer, parts, since)
        if until:
            ends = {part: min(ends[part], consumer.committed(part) or 0) for part in parts}
        for part in parts:
            consumer.seek(part, starts[part])
        for record in read_up_to(consumer, ends, timeout, topics):
            if record.offset < ends[kafka.TopicPartition(record.topic, record.partition)]:
                yield as_message(record)
    except KafkaError as error:
        raise refused(connection, error, f"read {', '.join(topics)}") from error
    finally:
        consumer.close(autocommit=False, timeout_ms=1000)


def read_one(connection: Connection, place: Position, timeout: float = 20.0) -> Message:
    """Return the first message at or after `place`, in its partition, without a group.

    Raises:
        TransportError: No broker, an unknown topic or partition, or no message there.
    """
    for message in read_span(connection, place, 1, timeout):
        return message
    raise TransportError(f"expected a message at {place.topic}/{place.partition}/{place.offset}, found none")


def read_span(connection: Connection, place: Position, count: int, timeout: float = 20.0) -> Iterator[Message]:
    """Yield the messages at `place` and after it, in its partition, `count` offsets at most, without a group.

    Raises:
        TransportError: No broker, an unknown topic or partition, or no answer for `timeout` seconds.
    """
    consumer = open_consumer(connection, group_id=None)
    try:
        part = kafka.TopicPartition(place.topic, place.partition)
        if place.partition not in partitions_of(connection, consumer, place.topic):
            raise TransportError(
                f"expected a partition of {place.topic}, got {place.partition}: it has none of that number"
            )
        consumer.assign([part])
        start = max(place.offset, consumer.beginning_offsets([part])[part])
        end = min(consumer.end_offsets([part])[part], start + count)
        consumer.seek(part, start)
        for record in read_up_to(consumer, {part: end}, timeout, [place.topic], count):
            if record.offset < end:
                yield as_message(record)
    except KafkaError as error:
        raise refused(connection, error, f"read {place.topic}") from error
    finally:
        consumer.close(autocommit=False, timeout_ms=1000)


def read_newest(connection: Connection, topic: str, key: bytes, count: int) -> Iterator[Message]:
    """Yield the messages of `key` among the newest `count` of its partition, oldest first, without a group. Raises as `read_span` does."""
    consumer = open_consumer(connection, group_id=None)
    try:
        part = kafka.TopicPartition(topic, partition_of(key, len(partitions_of(connection, consumer, topic))))
        end: int = consumer.end_offsets([part])[part]
    except KafkaError as error:
        raise refused(connection, error, f"read {topic}") from error
    finally:
        consumer.close(autocommit=False, timeout_ms=1000)
    newest = read_span(connection, Position(topic, part.partition, max(0, end - count)), count)
    return (message for message in newest if message.key == key)


def partitions_of(connection: Connection, consumer: Any, topic: str) -> set[int]:
    """Return the numbers of the partitions of `topic`. Raises `TransportError` where it is not there or may not be seen."""
    found: set[int] | None = consumer.partitions_for_topic(topic)
    if not found:
        raise unreadable(connection, topic)
    return found


def parts_of(connection: Connection, consumer: Any, topics: Sequence[str]) -> list[Any]:
    """Return all partitions of `topics`. Raises `TransportError` where one is not there or may not be seen."""
    return [
        kafka.TopicPartition(topic, number)
        for topic in topics
        for number in sorted(partitions_of(connection, consumer, topic))
    ]


def offsets_since(consumer: Any, parts: Sequence[Any], since: float) -> dict[Any, int]:
    """Return where each partition holds the first message from `since`, in seconds since 1970, or its end."""
    ends = consumer.end_offsets(parts)
    found = consumer.offsets_for_times(dict.fromkeys(parts, int(since * 1000)))
    return {part: found[part].offset if found.get(part) else ends[part] for part in parts}


def read_up_to(
    consumer: Any, ends: Mapping[Any, int], timeout_s: float, topics: Sequence[str], limit: int | None = None
) -> Iterator[Any]:
    """Yield the records of assigned partitions until each is read to its end in `ends`, and some behind it. A poll takes `limit` at most.

    Raises:
        TransportError: Nothing came for `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    while any(consumer.position(part) < end for part, end in ends.items()):
        if time.monotonic() > deadline:
            raise TransportError(f"no answer for {timeout_s:g} s while reading {', '.join(topics)}")
        # The ends are known beforehand: a look waits only for what is on its way, 200 ms at a time.
        for records in consumer.poll(timeout_ms=200, max_records=limit).values():
            yield from records
            deadline = time.monotonic() + timeout_s
