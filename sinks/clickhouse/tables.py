"""Records to rows: which table a record goes to, and the columns that are not fields of the record."""

from functools import partial

import schedmate_records as records
from schedmate_records import Position, Record

from .columns import derived, parts_of
from .table import Table
from .table_of_lines import JOB_LINES

Row = tuple[Position, Record]


def _root_line(answer: records.ModelAnswer) -> int | None:
    """Return the number of the line that a model names as the root; None for none."""
    root = answer.failure.root if answer.failure else None
    return root.line if root else None


def _gpus_in(state: records.GpuState, activity: records.GpuActivity) -> int:
    return sum(gpu.state is state for gpu in activity.gpus)


def _jobs(sample: records.GpuSample) -> list[str]:
    return sorted({process.job for process in sample.processes if process.job})


_OVER_RANKS = {
    "ranks": "ranks",
    "job_step_time_s": "step_time_s",
    "rank_spread": "spread",
    "slowest_rank": "slowest",
    "rank_lag": "lag",
}
_ROOT = {f"root_{name}": name for name in ("topic", "partition", "offset", "line", "text")}
_ANSWER = ("failed", "error_type", "faulty_component", "restartable", "certainty", "summary")
_PLACE = {f"place_{name}": name for name in ("topic", "partition", "offset", "line")} | {"text": "text"}

TABLES: tuple[Table, ...] = (
    JOB_LINES,
    Table(
        "job_metrics",
        records.JobMetric,
        parts={"over_ranks": parts_of(records.JobMetric, "over_ranks", _OVER_RANKS)},
    ),
    Table("failures", records.Failure, parts={"root": parts_of(records.Failure, "root", _ROOT)}),
    Table("slowdowns", records.Slowdown),
    Table("alarms", records.Alarm),
    Table("checkpoints", records.Checkpoint),
    Table("job_events", records.JobEvent, timed=False),
    Table(
        "model_answers",
        records.ModelAnswer,
        timed=False,
        parts={
            "failure": [
                *parts_of(records.ModelAnswer, "failure", {name: name for name in _ANSWER}),
                derived("root_line", "Nullable(Int64)", _root_line),
            ]
        },
    ),
    Table("estimates", records.Estimate, timed=False),
    Table("start_estimates", records.StartEstimate),
    Table("feedback", records.Feedback, timed=False),
    Table(
        "gpu_activity",
        records.GpuActivity,
        parts={"": [derived(state.value, "Int64", partial(_gpus_in, state)) for state in records.GpuState]},
    ),
    Table("gpu_metrics", records.GpuSample, key="node", parts={"": [derived("jobs", "Array(String)", _jobs)]}),
    Table(
        "node_findings",
        records.NodeFinding,
        key="node",
        parts={"place": parts_of(records.NodeFinding, "place", _PLACE)},
    ),
    Table("quotas", records.Quota, key="cluster"),
    Table("decisions", records.Decision, timed=False),
    Table("decision_results", records.DecisionResult, timed=False),
    Table("approvals", records.OperatorCommand, timed=False),
    Table("formats", records.KnownFormat, key="fingerprint"),
    Table("dead_letters", records.DeadLetter, key="topic"),
)

BY_RECORD: dict[type[Record], Table] = {table.record: table for table in TABLES}

TABLE_OF: dict[str, str] = {
    topic.name: BY_RECORD[topic.record].name for topic in records.TOPICS if topic.record in BY_RECORD
}
"""The table of each topic whose records have one."""

STORED_TOPICS: tuple[str, ...] = tuple(TABLE_OF)
"""The topics whose records have a table: what a sink subscribes to."""
