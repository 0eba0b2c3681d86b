"""Decoding of a message: a record under its key, or the reason why it has none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from schedmate_records import BY_NAME, DeadLetter, InvalidRecord, Record

from ..accept import accept, refuse
from ..otlp import is_otlp, split
from ..partition import partition_of
from ..transport import Message
from .metrics import EngineMetrics

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Decoded:
    """Result of decoding a message.

    Attributes:
        key: Under which the record is processed; None where there is nothing to process.
        record: That record.
        made: To be written: a dead letter, or the chunks of a request, which come back under keys of their own.
    """

    key: str | None = None
    record: Record | None = None
    made: Sequence[Record] = ()


class Decoder:
    """Reads messages, whatever is in them: nothing that a message holds raises an error."""

    def __init__(self, partitions: int | None, metrics: EngineMetrics) -> None:
        """Set up. `partitions` of the inputs serve to notice misplaced messages; None where not known."""
        self._partitions, self._metrics = partitions, metrics
        self._misplaced_told = False
        self._unreadable_reported = False

    def decode(self, message: Message) -> Decoded:
        """Return what `message` holds."""
        read = self._request if message.position.topic == "job-logs" and is_otlp(message.value) else self._record
        return self._guarded(read, message)

    def refuse(self, message: Message, reason: str, stage: str = "decode") -> DeadLetter:
        """Return the dead letter of `message`, counted."""
        self._metrics.dead_letters.inc()
        return refuse(message, reason, stage)

    def _guarded(self, read: Callable[[Message], Decoded], message: Message) -> Decoded:
        try:
            return read(message)
        except InvalidRecord as error:
            return Decoded(made=[self.refuse(message, str(error))])
        except Exception as error:
            log.exception("message_unreadable", position=message.position)
            return Decoded(made=[self.refuse(message, f"reading it failed with {brief(error)}; please report this")])

    def _record(self, message: Message) -> Decoded:
        record = accept(message, partial(self._count_unreadable, message))
        key = BY_NAME[message.position.topic].key_of(record)
        name = key.decode()
        self._check_place(message, key)
        return Decoded(name, record)

    def _request(self, message: Message) -> Decoded:
        """Return the chunks of an OpenTelemetry request, and a dead letter of what in it is none."""
        found = split(message)
        refused = [self.refuse(message, found.refused)] if found.refused else []
        return Decoded(made=[*found.chunks, *refused])

    def _count_unreadable(self, message: Message, reason: str) -> None:
        """Count a field that another tool wrote and that cannot be read; the first one is logged."""
        self._metrics.unreadable_fields.inc()
        if not self._unreadable_reported:
            self._unreadable_reported = True
            log.warning(
                "field_unreadable", position=message.position, reason=reason, consequence="the line is kept without it"
            )

    def _check_place(self, message: Message, key: bytes) -> None:
        if self._partitions is None or partition_of(key, self._partitions) == message.position.partition:
            return
        if not self._misplaced_told:
            self._misplaced_told = True
            log.warning(
                "message_in_wrong_partition",
                key=key.decode(),
                position=message.position,
                then="set the producer's partitioner to murmur2 (librdkafka: partitioner=murmur2_random)",
            )
        self._metrics.misplaced.inc()


def brief(error: Exception) -> str:
    """Return the text of `error`, cut: it may quote the message."""
    return repr(error)[:300]
