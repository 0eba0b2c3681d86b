"""The lines around the evidence of a decision, of every rank that printed at that time, read from Kafka."""

from collections import defaultdict
from collections.abc import Mapping

import structlog

from schedmate_records import Decision, InvalidRecord, LogChunk, NodeLogChunk
from streams.accept import accept
from streams.kafka import Connection, KafkaReader
from streams.transport import TransportError

log = structlog.get_logger(__name__)

AROUND = 100
"""Messages before and after one that holds evidence. A partition holds all ranks of a job, and other jobs' lines, which are left out."""


class LogWindows:
    """Reads parts of logs. Where the bridge's Kafka user may not read a topic, that part states it."""

    def __init__(self, connection: Connection) -> None:
        # A bundle must not keep a faulty node in service for long.
        self._reader = KafkaReader(connection, 10.0)

    def __call__(self, decision: Decision) -> Mapping[str, str]:
        """Return the lines around a decision's evidence, by file name: one file a stream of a rank, one a node's log."""
        offsets = defaultdict(list)
        for each in decision.evidence:
            if each.topic in ("job-logs", "node-logs"):
                offsets[each.topic, each.partition].append(each.offset)
        found: dict[str, list[str]] = defaultdict(list)
        # Partitions that are looked into, two at most in practice: that of the job and that of the node.
        for (topic, partition), places in list(offsets.items())[:4]:
            wanted = range(max(0, min(places) - AROUND), min(max(places), min(places) + AROUND) + AROUND + 1)
            try:
                messages = self._reader.read_at(topic, partition, wanted)
            except TransportError as error:
                found[f"{topic}.txt"].append(f"not read: {error}")
                continue
            for message in messages:
                try:
                    record = accept(message)
                except InvalidRecord:
                    continue
                if isinstance(record, LogChunk) and record.job == decision.job:
                    found[f"job-{record.job}-{record.attempt}-rank-{record.rank}-{record.stream}.log"] += record.lines
                elif isinstance(record, NodeLogChunk) and record.node == decision.node:
                    found[f"node-{record.node}-{record.source}.log"] += record.lines
        return {name: "\n".join(lines) + "\n" for name, lines in found.items()}

    def close(self) -> None:
        """Let go of the broker."""
        self._reader.close()
