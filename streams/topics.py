"""Layout of topics on a broker: partitions, retention, compaction.

`records.TOPICS` describes what the topics hold. Topics that a job's state is made from have the same number of partitions, so
that one worker owns a job's logs, events and state.
"""

from dataclasses import dataclass

from schedmate_records import TOPICS

STATE_TOPICS = ("job-state", "node-state")
"""Compacted: the newest state of every key of an engine, in the same partition as the key's input."""

DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True)
class TopicLayout:
    """Layout of a topic. `partitions` of None: as many as in the settings."""

    name: str
    partitions: int | None
    config: dict[str, str]


# Messages bear the broker's time: one from a host whose clock is more than an hour ahead would be refused, and one from a host whose
# clock is days behind would be deleted at once.
_BROKERS_TIME = {"message.timestamp.type": "LogAppendTime"}


def _plain(days: int) -> dict[str, str]:
    return {
        **_BROKERS_TIME,
        "cleanup.policy": "delete",
        "retention.ms": str(days * DAY_MS),
        "max.message.bytes": str(8 << 20),
    }


# A worker reads its states back from the beginning. Small segments that are compacted soon keep that short, whatever the uptime: the
# cleaner leaves the newest segment alone.
_STATE = {
    **_BROKERS_TIME,
    "cleanup.policy": "compact,delete",
    "retention.ms": str(14 * DAY_MS),
    "max.message.bytes": str(16 << 20),
    "min.cleanable.dirty.ratio": "0.1",
    "segment.bytes": str(32 << 20),
    "segment.ms": str(10 * 60 * 1000),
    "max.compaction.lag.ms": str(10 * 60 * 1000),
    "delete.retention.ms": str(3600 * 1000),
}

# Decisions and quotas are few and their order counts; one partition means that one bridge acts and any other waits. Operators' commands
# are fewer, and every bridge reads them all.
_DAYS = {
    "job-logs": 3,
    "node-logs": 3,
    "gpu-metrics": 1,
    "model-questions": 1,
    "approvals": 3650,
    "quotas": 60,
    "formats": 3650,
}
"""Lines and samples are many. Workers may be away for a weekend; samples that are a day old explain no failure any more, and questions are
worth an answer for minutes. A stop holds until a person lifts it, so it must not be forgotten. Forecasts are learnt from past quotas. A
format is asked about once: every worker reads all of them when it starts."""

# Results, decisions and events are few: ClickHouse may be away for two weeks before any of them is lost.
LAYOUTS: tuple[TopicLayout, ...] = (
    *(
        TopicLayout(
            topic.name,
            1 if topic.name in {"decisions", "decision-results", "approvals", "quotas", "formats"} else None,
            _plain(_DAYS.get(topic.name, 14)),
        )
        for topic in TOPICS
    ),
    *(TopicLayout(name, None, _STATE) for name in STATE_TOPICS),
)
