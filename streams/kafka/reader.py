"""Reads single messages by their places, without a group."""

import threading
import time
from collections.abc import Sequence
from typing import Any

from kafka import TopicPartition
from kafka.errors import KafkaError

from ..transport import Message, TransportError
from .connection import Connection
from .consumer import as_message, open_consumer
from .errors import refused


class KafkaReader:
    """Reads messages by their offsets. Safe to be shared by threads, which wait for one another."""

    def __init__(self, connection: Connection, timeout_s: float = 20.0) -> None:
        self._connection, self._timeout_s = connection, timeout_s
        self._lock = threading.Lock()
        self._consumer: Any = None

    def read_at(self, topic: str, partition: int, offsets: Sequence[int]) -> list[Message]:
        """Return the messages at `offsets`, in ascending order; those that are no longer kept are left out.

        Raises:
            TransportError: No broker, a refusal, or no answer in time.
        """
        with self._lock:
            try:
                return self._read(TopicPartition(topic, partition), offsets)
            except KafkaError as error:
                self._close()
                raise refused(self._connection, error, f"read {topic}") from error
            except TransportError:
                self._close()
                raise

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._consumer is not None:
            self._consumer.close(autocommit=False, timeout_ms=1000)
        self._consumer = None

    def _read(self, part: TopicPartition, offsets: Sequence[int]) -> list[Message]:
        if self._consumer is None:
            # 1 MB a fetch: a page shows few messages.
            self._consumer = open_consumer(self._connection, group_id=None, max_partition_fetch_bytes=1 << 20)
        consumer = self._consumer
        consumer.assign([part])
        first, end = consumer.beginning_offsets([part])[part], consumer.end_offsets([part])[part]
        wanted = [offset for offset in offsets if first <= offset < end]
        found: list[Message] = []
        deadline = time.monotonic() + self._timeout_s
        at: int | None = None
        for offset in wanted:
            # Up to 100 messages are read through: a seek costs more.
            if at is None or not offset - 100 <= at <= offset:
                consumer.seek(part, offset)
            while (at := consumer.position(part)) <= offset:
                if time.monotonic() > deadline:
                    raise TransportError(f"no answer for {self._timeout_s:g} s while reading {part.topic}")
                polled = consumer.poll(timeout_ms=500, max_records=1).get(part, ())
                found += [as_message(record) for record in polled if record.offset == offset]
        return found
