"""The narrow interface between code that moves messages and code that makes or reads them.

Two implementations: `kafka` (Apache Kafka through kafka-python) and `memory` (one process, no server).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from schedmate_records import Position, Record, UserError, encode, topic_of

from .producer import Outgoing, Producer

__all__ = [
    "BrokerUnavailable",
    "Consumer",
    "Message",
    "Outgoing",
    "Producer",
    "TransportError",
    "outgoing",
    "write_records",
]


@dataclass(frozen=True, slots=True)
class Message:
    """One message in a topic. `time` is its timestamp in seconds since 1970."""

    position: Position
    key: bytes | None
    value: bytes
    time: float


def outgoing(record: Record) -> Outgoing:
    """Return `record` as a message for its own topic, under its own key."""
    topic = topic_of(record)
    return Outgoing(topic.name, topic.key_of(record), encode(record))


def write_records(producer: Producer, records: Iterable[Record]) -> None:
    """Write records, each to its own topic, and return once the broker has all of them.

    Raises:
        TransportError: The broker refuses one, or does not acknowledge it within 30 seconds, for which Kafka's client itself tries.
    """
    sent = [producer.send(outgoing(each)) for each in records]
    try:
        for each in sent:
            each.result(30.0)
    except TimeoutError as error:
        raise TransportError("expected an acknowledgement within 30 s, got none") from error


class TransportError(UserError):
    """The broker is away, slow, or refused a message; the message states what to do."""


class BrokerUnavailable(TransportError):
    """The broker is away or slow: the same may succeed later, with nothing changed here."""


class Consumer(Protocol):
    """Reads messages of some topics as one member of a group."""

    def poll(self, timeout: float, limit: int = 500) -> Sequence[Message]:
        """Return up to `limit` messages, or none after `timeout` seconds. Order within a partition is kept.

        Raises `TransportError` where the broker refuses for good; a broker that is away is waited for.
        """

    def commit(self) -> bool:
        """Note that all that `poll` returned is dealt with. Never call it before results are acknowledged.

        False where the broker did not take it: to be called again, whether more comes or not.
        """

    def lag(self) -> dict[tuple[str, int], int]:
        """Return the number of messages not yet polled, by topic and partition."""

    def close(self) -> None:
        """Leave the group without committing."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
