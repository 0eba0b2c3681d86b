"""A broker inside one process: topics, partitions, offsets and groups as in Kafka, nothing on disk.

The single-process runtime uses it, so that the demo and a test run the code that production runs.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice
from types import TracebackType
from typing import Self

from schedmate_records import Position

from .partition import partition_of
from .topics import LAYOUTS
from .transport import Message, Outgoing, TransportError


@dataclass
class _Partition:
    messages: deque[Message]
    end: int = 0

    def read(self, offset: int, limit: int) -> list[Message]:
        start = max(offset - (self.end - len(self.messages)), 0)
        return list(islice(self.messages, start, start + limit))


@dataclass
class MemoryBroker:
    """Topics in memory.

    Attributes:
        partitions: Partitions of every topic that does not fix its own number.
        retain: Messages kept per partition; older ones go, as in a broker whose retention is over.
        clock: Gives the timestamp of a message, in seconds since 1970.
        topics: The partitions of each topic.
        committed: Next offset by group, topic and partition.
        changed: Guards all of it, and wakes consumers that poll.
    """

    partitions: int = 4
    retain: int = 100_000
    clock: Callable[[], float] = time.time
    topics: dict[str, list[_Partition]] = field(default_factory=dict, repr=False)
    committed: dict[tuple[str, str, int], int] = field(default_factory=dict)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        for layout in LAYOUTS:
            count = layout.partitions or self.partitions
            self.topics[layout.name] = [_Partition(deque(maxlen=self.retain)) for _ in range(count)]

    def append(self, message: Outgoing) -> Position:
        """Write one message and return its place. Raises `TransportError` for an unknown topic."""
        with self.changed:
            if message.topic not in self.topics:
                raise TransportError(
                    f"expected one of the topics {', '.join(sorted(self.topics))}, got {message.topic!r}"
                )
            parts = self.topics[message.topic]
            number = partition_of(message.key, len(parts)) if message.partition is None else message.partition
            part = parts[number]
            position = Position(message.topic, number, part.end)
            part.messages.append(Message(position, message.key, message.value or b"", self.clock()))
            part.end += 1
            self.changed.notify_all()
            return position

    def read(self, topic: str, partition: int | None = None) -> list[Message]:
        """Return all that `topic` (or one partition of it) still holds, by partition and offset."""
        with self.changed:
            parts = self.topics[topic]
            numbers = range(len(parts)) if partition is None else [partition]
            return [message for number in numbers for message in parts[number].messages]

    def read_between(self, topic: str, partition: int, begin: int, end: int) -> list[Message]:
        """Return the messages of one partition from offset `begin` to before `end`, those that are still held."""
        with self.changed:
            return [
                message
                for message in self.topics[topic][partition].read(begin, end - begin)
                if message.position.offset < end
            ]

    def read_at(self, topic: str, partition: int, offsets: Sequence[int]) -> list[Message]:
        """Return the messages at `offsets`, in ascending order; those that are no longer held are left out."""
        wanted = set(offsets)
        return [message for message in self.read(topic, partition) if message.position.offset in wanted]

    def producer(self) -> "MemoryProducer":
        """Return a producer that writes here."""
        return MemoryProducer(self)

    def consumer(self, group: str, topics: Sequence[str]) -> "MemoryConsumer":
        """Return a consumer that goes on where `group` committed, else at the beginning."""
        return MemoryConsumer(self, group, topics)


class MemoryProducer:
    """Writes into a `MemoryBroker`; every message is acknowledged at once."""

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker = broker

    def send(self, message: Outgoing) -> "Future[None]":
        """Write `message`; the future is done already."""
        done: Future[None] = Future()
        try:
            self._broker.append(message)
        except TransportError as error:
            done.set_exception(error)
        else:
            done.set_result(None)
        return done

    def flush(self, timeout: float) -> None:
        """Nothing is ever outstanding."""

    def close(self) -> None:
        """Nothing to let go of."""


class MemoryConsumer:
    """Reads from a `MemoryBroker`. A group has one member."""

    def __init__(self, broker: MemoryBroker, group: str, topics: Sequence[str]) -> None:
        self._broker, self._group = broker, group
        parts = [(topic, number) for topic in topics for number in range(len(broker.topics[topic]))]
        self._next = {part: broker.committed.get((group, *part), 0) for part in parts}

    def poll(self, timeout: float, limit: int = 500) -> Sequence[Message]:
        """Return up to `limit` messages, or none after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._broker.changed:
            while not (found := self._fetch(limit)):
                left = deadline - time.monotonic()
                if left <= 0 or not self._broker.changed.wait(left):
                    return self._fetch(limit)
            return found

    def _fetch(self, limit: int) -> list[Message]:
        found: list[Message] = []
        for (topic, number), offset in self._next.items():
            messages = self._broker.topics[topic][number].read(offset, limit - len(found))
            if messages:
                self._next[topic, number] = messages[-1].position.offset + 1
                found += messages
        return found

    def commit(self) -> bool:
        """Remember where the next consumer of this group goes on."""
        with self._broker.changed:
            self._broker.committed.update({(self._group, *part): offset for part, offset in self._next.items()})
        return True

    def lag(self) -> dict[tuple[str, int], int]:
        """Return the number of messages not yet polled, by topic and partition."""
        with self._broker.changed:
            return {part: self._broker.topics[part[0]][part[1]].end - offset for part, offset in self._next.items()}

    def close(self) -> None:
        """Nothing to let go of; what was not committed is read again by the next consumer."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
