"""Reads topics up to their present ends, again and again, without a group."""

from collections.abc import Sequence
from typing import Any

from kafka.errors import KafkaError

from ..transport import Message, TransportError
from .connection import Connection
from .consumer import as_message, offsets_since, open_consumer, parts_of, read_up_to
from .errors import refused


class KafkaFollower:
    """Follows topics from their beginnings. Every follower reads every message, however many there are. Not safe for threads.

    Args:
        topics: Topics of few messages: all of them are read first.
        timeout_s: A look fails where nothing comes for so long.
        since: Not from the beginnings, but from what was written then, in seconds since 1970.
    """

    def __init__(
        self, connection: Connection, topics: Sequence[str], timeout_s: float = 20.0, since: float | None = None
    ) -> None:
        self._connection, self._topics, self._timeout_s = connection, topics, timeout_s
        self._since = since
        self._consumer: Any = None
        self._next: dict[Any, int] = {}

    def new(self) -> list[Message]:
        """Return what was written since the last call, up to the present end.

        Raises:
            TransportError: No broker, an unknown topic, a refusal, or no answer in time. The next call reads what this one did not.
        """
        try:
            return self._read()
        except KafkaError as error:
            self.close()
            raise refused(self._connection, error, f"read {', '.join(self._topics)}") from error
        except TransportError:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the connection."""
        if self._consumer is not None:
            self._consumer.close(autocommit=False, timeout_ms=1000)
        self._consumer = None

    def _read(self) -> list[Message]:
        if self._consumer is None:
            self._consumer = open_consumer(self._connection, group_id=None)
            self._begin()
        ends = self._consumer.end_offsets(list(self._consumer.assignment()))
        found = [as_message(each) for each in read_up_to(self._consumer, ends, self._timeout_s, self._topics)]
        self._next = {part: self._consumer.position(part) for part in ends}
        return found

    def _begin(self) -> None:
        parts = parts_of(self._connection, self._consumer, self._topics)
        self._consumer.assign(parts)
        if self._since is not None and not self._next:
            self._next = offsets_since(self._consumer, parts, self._since)
        for part in parts:
            if part in self._next:
                self._consumer.seek(part, self._next[part])
            else:
                self._consumer.seek_to_beginning(part)
