"""Reports to which topics and keys something was written, and keeps nothing of what was written."""

from collections.abc import Sequence
from typing import Any

from kafka.errors import KafkaError

from ..changes import Change
from ..transport import TransportError
from .connection import Connection
from .consumer import open_consumer, parts_of, read_up_to
from .errors import refused


class KafkaChanges:
    """Looks again and again at the ends of topics, without a group. Its cost does not grow with what is written. Not safe for threads.

    Args:
        topics: Topics whose keys are reported.
        counted: Topics of many messages: only the fact that something was written is reported, and nothing of them is fetched.
        timeout_s: A look fails where nothing comes for so long.
    """

    def __init__(
        self, connection: Connection, topics: Sequence[str], counted: Sequence[str] = (), timeout_s: float = 10.0
    ) -> None:
        self._connection, self._topics, self._counted, self._timeout_s = connection, topics, counted, timeout_s
        self._consumer: Any = None
        self._ends: dict[Any, int] = {}

    def new(self) -> set[Change]:
        """Return where something was written since the last call.

        The first call, and the first after a failure, return every topic without a key: what was missed is not known.

        Raises:
            TransportError: No broker, an unknown topic, a refusal, or no answer in time.
        """
        try:
            return self._begin() if self._consumer is None else self._read()
        except KafkaError as error:
            self.close()
            raise refused(self._connection, error, f"read {', '.join((*self._topics, *self._counted))}") from error
        except TransportError:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the connection."""
        if self._consumer is not None:
            self._consumer.close(autocommit=False, timeout_ms=1000)
        self._consumer = None

    def _begin(self) -> set[Change]:
        # 1 MB a fetch is enough: only keys are read.
        self._consumer = open_consumer(self._connection, group_id=None, max_partition_fetch_bytes=1 << 20)
        keyed, counted = (
            parts_of(self._connection, self._consumer, topics) for topics in (self._topics, self._counted)
        )
        self._consumer.assign([*keyed, *counted])  # kafka-python knows the leaders of assigned partitions alone
        self._consumer.pause(*counted)
        self._ends = self._present([*keyed, *counted])
        for part, end in self._ends.items():
            self._consumer.seek(part, end)
        return {Change(topic) for topic in (*self._topics, *self._counted)}

    def _read(self) -> set[Change]:
        consumer = self._consumer
        ends = self._present(list(self._ends))
        found = {Change(part.topic) for part in ends if part.topic in self._counted and ends[part] != self._ends[part]}
        behind = {part for part in ends if part.topic not in self._counted and ends[part] > self._ends[part]}
        for part in list(behind):
            # Up to 2,000 messages of a partition are read for their keys between two looks; of more, only the topic is
            # reported.
            if ends[part] - self._ends[part] > 2_000:
                consumer.seek(part, ends[part])
                found.add(Change(part.topic))
                behind.remove(part)
        for each in read_up_to(consumer, {part: ends[part] for part in behind}, self._timeout_s, self._topics):
            found.add(Change(each.topic, _text(each.key)))
        self._ends = ends
        return found

    def _present(self, parts: Sequence[Any]) -> dict[Any, int]:
        ends: dict[Any, int] = self._consumer.end_offsets(parts, timeout_ms=int(self._timeout_s * 1000))
        return ends


def _text(key: bytes | None) -> str:
    # Anybody may write a key: cut to 1,024 characters.
    return (key or b"").decode(errors="replace")[:1024]
