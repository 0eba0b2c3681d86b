"""Which decisions are dealt with: a view of the topic `decision-results` that goes up to its present end."""

import time
from typing import Any

import kafka

from schedmate_records import BY_RECORD, DecisionResult, InvalidRecord, Outcome, decode_any_version

TOPIC = BY_RECORD[DecisionResult].name
BACK = 7 * 86400.0
"""Seconds that the first look goes back. A decision that claims to live longer is over by then."""
OPEN = frozenset({Outcome.SHADOWED, Outcome.DEFERRED})
"""Outcomes after which somebody else may still carry a decision out."""


class DealtWith:
    """Reads every partition of the topic by itself, without a group. Every call may raise `kafka.errors.KafkaError`.

    Args:
        consumer: A consumer of its own, without a group.
    """

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self._parts: list[Any] = []
        self._known: dict[str, None] = {}

    def knows(self, decision_id: str) -> bool:
        """True where a bridge has begun to carry the decision out, refused it, or retracted it. Reads what was written until now."""
        if not self._parts:
            self._begin()
        ends = self._consumer.end_offsets(self._parts)
        while any(self._consumer.position(part) < ends[part] for part in self._parts):
            # The ends are known beforehand, so a poll of at most 500 ms waits only for records that are on their way.
            for records in self._consumer.poll(timeout_ms=500).values():
                for record in records:
                    self._add_result(record.value or b"")
        return decision_id in self._known

    def close(self) -> None:
        """Let go of the broker."""
        self._consumer.close(autocommit=False, timeout_ms=1000)

    def _begin(self) -> None:
        parts = [
            kafka.TopicPartition(TOPIC, number) for number in sorted(self._consumer.partitions_for_topic(TOPIC) or ())
        ]
        self._consumer.assign(parts)
        since = dict.fromkeys(parts, int((time.time() - BACK) * 1000))
        found, ends = self._consumer.offsets_for_times(since), self._consumer.end_offsets(parts)
        for part in parts:
            self._consumer.seek(part, found[part].offset if found.get(part) else ends[part])
        self._parts = parts

    def _add_result(self, value: bytes) -> None:
        try:
            result = decode_any_version(DecisionResult, value)
        except InvalidRecord:
            return  # the bridge makes a dead letter of it
        if result.outcome in OPEN:
            return
        self._known.pop(result.decision_id, None)
        self._known[result.decision_id] = None
        # More decisions than a cluster sees before they expire, in about 10 MB.
        if len(self._known) > 100_000:
            del self._known[next(iter(self._known))]
