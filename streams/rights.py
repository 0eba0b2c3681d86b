"""Rights of each program on a broker: topics and consumer groups.

They are defined only here: `schedmate acls` grants them, programs check them at their start, and docs/rights.md is generated from them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .topics import LAYOUTS, STATE_TOPICS

Operation = Literal["READ", "WRITE", "DESCRIBE", "CREATE", "ALTER"]

ALL = tuple(layout.name for layout in LAYOUTS)
STORED = tuple(
    name for name in ALL if name not in {"job-logs", "node-logs", "placements", "model-questions", *STATE_TOPICS}
)


@dataclass(frozen=True)
class Grant:
    """One right: an operation on a resource. `prefixed`: on all whose names begin so."""

    operation: Operation
    resource: Literal["topic", "group", "cluster"]
    name: str
    prefixed: bool = False


@dataclass(frozen=True)
class Role:
    """Rights of one program.

    Attributes:
        name: What `schedmate acls` calls it.
        about: Who has it.
        reads: Topics that it reads.
        writes: Topics that it writes.
        sees: Topics of which it may know that they are there, besides those.
        group: Its consumer group, after the prefix `kafka.group`; empty: none.
        groups_below: True where every group whose name begins so is meant.
        lays_out: True where it creates topics and grants rights.
    """

    name: str
    about: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    sees: tuple[str, ...] = ()
    group: str = ""
    groups_below: bool = False
    lays_out: bool = False

    def grants(self, prefix: str = "schedmate") -> Iterator[Grant]:
        """Yield each right once; `prefix` is the setting `kafka.group`."""
        yield from (Grant("READ", "topic", topic) for topic in self.reads)
        yield from (Grant("WRITE", "topic", topic) for topic in self.writes)
        # A right to read or write a topic in Kafka includes the right to see it.
        yield from (Grant("DESCRIBE", "topic", topic) for topic in self.sees if topic not in self.reads + self.writes)
        if self.group:
            yield Grant("READ", "group", f"{prefix}{self.group}", self.groups_below)
        if self.lays_out:
            for topic in ALL:
                yield Grant("CREATE", "topic", topic)
                yield Grant("DESCRIBE", "topic", topic)
            yield Grant("DESCRIBE", "cluster", "kafka-cluster")
            yield Grant("ALTER", "cluster", "kafka-cluster")


_ROLES = (
    Role(
        "pipe",
        "`pipe` that writes to Kafka itself, as the user of a job: not needed where nodes have a collector",
        writes=("job-logs", "pipe-events"),
    ),
    Role("collector", "`collect`, on a node", writes=("job-logs", "node-logs", "pipe-events")),
    Role("gpu-agent", "`gpu-agent`, on a node", writes=("gpu-metrics",)),
    Role("watcher", "`watch-scheduler`", writes=("job-events",)),
    Role(
        "worker",
        "`worker`",
        reads=(
            *("job-logs", "job-events", "pipe-events", "model-answers", "node-findings", "gpu-activity"),
            *("node-logs", "gpu-metrics", "placements", "formats"),
            *STATE_TOPICS,
        ),
        writes=(
            *("job-metrics", "failures", "slowdowns", "alarms", "checkpoints", "estimates", "model-questions"),
            *(
                "job-events",
                "pipe-events",
                "placements",
                "node-findings",
                "gpu-activity",
                "dead-letters",
                *STATE_TOPICS,
            ),
            "job-logs",  # the lines of OpenTelemetry's requests, under their jobs' keys
        ),
        sees=ALL,
        group="-worker",
    ),
    Role(
        "model-worker",
        "`model-worker`, on a GPU host",
        reads=("model-questions", "job-logs", "formats"),
        writes=("model-answers", "formats", "dead-letters"),
        group="-model-worker",
    ),
    Role(
        "advisor",
        "`advisor`",
        reads=("job-events", "gpu-metrics"),
        writes=("estimates", "dead-letters"),
        group="-advisor",
    ),
    Role("starts", "`starts --keep` and `--every`", writes=("start-estimates",)),
    Role(
        "spot",
        "`spot`",
        reads=("job-events", "quotas", "decision-results"),
        writes=("quotas", "dead-letters"),
        group="-spot",
    ),
    Role("sink", "`sink`", reads=STORED, writes=("dead-letters",), group="-sink"),
    Role("sink-lines", "`sink`, where it stores the lines of jobs", reads=("job-logs",), group="-lines"),
    Role(
        "bridge",
        "`bridge`",
        reads=(
            "failures",
            "slowdowns",
            "alarms",
            "decisions",
            "decision-results",
            "job-events",
            "checkpoints",
            "quotas",
            "approvals",
        ),
        writes=("decisions", "decision-results", "dead-letters"),
        group="-bridge",
    ),
    Role(
        "notifier",
        "`notify`",
        reads=("decisions", "decision-results", "failures", "alarms", "job-events"),
        writes=("dead-letters",),
        group="-notify",
    ),
    Role(
        "page",
        "`web`, where pages are live, show lines of logs, or operators act on them",
        reads=(
            "job-logs",
            "node-logs",
            "job-metrics",
            "decisions",
            "decision-results",
            "approvals",
            "failures",
            "alarms",
            "job-events",
            "checkpoints",
            "slowdowns",
            "quotas",
        ),
        writes=("approvals", "formats"),
    ),
    Role("subscriber", "a scheduler of your own, through `subscribe`", reads=("decisions",), group="-subscriber"),
    Role(
        "reader",
        "a person: `decisions`",
        reads=("decisions", "decision-results", "approvals"),
        group="-decisions-",
        groups_below=True,
    ),
    Role(
        "operator",
        "a person: `decisions approve`, `decisions stop`, `feedback`, `dead-letters`, `topics check`",
        reads=ALL,
        writes=tuple(name for name in ALL if name not in STATE_TOPICS),
        group="-",
        groups_below=True,
    ),
    Role("administrator", "a person: `topics create`, `acls`", lays_out=True),
)

ROLES: dict[str, Role] = {role.name: role for role in _ROLES}
"""All roles, by name."""
