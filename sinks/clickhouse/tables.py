"""Records to rows: which table a record goes to, and what stands in each of its columns."""

from dataclasses import dataclass
from functools import partial

import records
from records import Position, Record

from .columns import (
    Column,
    encoded,
    fitting,
    integer,
    made,
    maybe_integer,
    maybe_real,
    maybe_time,
    part,
    plain,
    real,
    text,
    texts,
    time,
)

Row = tuple[Position, Record]


@dataclass(frozen=True)
class Table:
    """A table and what the writer must know of it.

    Attributes:
        name: Its name.
        record: The type of record that it holds.
        columns: All columns that are filled from a record; `id` first.
        key: The column that its sorting key begins with, a text. A record made twice has the same value there.
        timed: True where a record made twice also has the same `time` (all but what is stamped when it is written).
    """

    name: str
    record: type[Record]
    columns: tuple[Column, ...]
    key: str
    timed: bool = True


_JOB = (text("id"), text("job"))
_ATTEMPT = (*_JOB, integer("attempt"))


def _gpus_in(state: records.GpuState, activity: records.GpuActivity) -> int:
    return sum(gpu.state is state for gpu in activity.gpus)


TABLES: tuple[Table, ...] = (
    Table(
        "job_metrics",
        records.JobMetric,
        (
            *_ATTEMPT,
            text("node"),
            integer("rank"),
            time("time"),
            maybe_integer("step"),
            maybe_real("epoch"),
            maybe_real("step_time_s"),
            maybe_real("throughput"),
            plain("throughput_unit", "Nullable(String)"),
            maybe_real("loss"),
            plain("loss_not_finite", "Bool"),
            real("confidence"),
            text("method"),
            integer("reports"),
            maybe_time("since"),
            maybe_integer("since_step"),
            maybe_integer("ranks", part("over_ranks", "ranks", None)),
            made("job_step_time_s", "Nullable(Float64)", part("over_ranks", "step_time_s", None)),
            made("rank_spread", "Nullable(Float64)", part("over_ranks", "spread", None)),
            maybe_integer("slowest_rank", part("over_ranks", "slowest", None)),
            made("rank_lag", "Nullable(Float64)", part("over_ranks", "lag", None)),
            encoded("evidence"),
        ),
        key="job",
    ),
    Table(
        "failures",
        records.Failure,
        (
            *_ATTEMPT,
            integer("revision"),
            time("time"),
            text("node"),
            plain("node_evidence", "Bool"),
            maybe_integer("rank"),
            text("message"),
            text("error_type"),
            text("faulty_component"),
            plain("restartable", "Nullable(Bool)"),
            real("confidence"),
            text("source"),
            texts("confirmed_by"),
            texts("contradicted_by"),
            text("signature"),
            plain("final", "Bool"),
            maybe_integer("exit_code"),
            maybe_integer("signal"),
            made("root_topic", "String", part("root", "topic", "")),
            maybe_integer("root_partition", part("root", "partition", None)),
            maybe_integer("root_offset", part("root", "offset", None)),
            maybe_integer("root_line", part("root", "line", None)),
            made("root_text", "String", part("root", "text", "")),
            encoded("evidence"),
        ),
        key="job",
    ),
    Table(
        "slowdowns",
        records.Slowdown,
        (
            *_ATTEMPT,
            text("packed_job"),
            text("node"),
            time("time"),
            real("before_s"),
            real("after_s"),
            real("ratio"),
            real("threshold"),
            integer("steps_after"),
            encoded("evidence"),
        ),
        key="job",
    ),
    Table(
        "alarms",
        records.Alarm,
        (
            *_ATTEMPT,
            text("node"),
            maybe_integer("rank"),
            text("kind"),
            plain("raised", "Bool"),
            time("time"),
            time("since"),
            maybe_real("value"),
            maybe_real("usual"),
            maybe_real("limit"),
            made("activity", "String", lambda alarm: alarm.activity or ""),
            maybe_real("gpu_hours"),
            text("detail"),
            encoded("evidence"),
        ),
        key="job",
    ),
    Table(
        "checkpoints",
        records.Checkpoint,
        (
            *_ATTEMPT,
            text("node"),
            integer("rank"),
            integer("number"),
            text("state"),
            made("durable_by", "String", lambda checkpoint: checkpoint.durable_by or ""),
            time("time"),
            time("since"),
            maybe_integer("step"),
            text("path"),
            plain("asynchronous", "Bool"),
            maybe_real("duration_s"),
            maybe_real("usual_duration_s"),
            maybe_real("interval_s"),
            encoded("evidence"),
        ),
        key="job",
    ),
    Table(
        "gpu_activity",
        records.GpuActivity,
        (
            *_ATTEMPT,
            text("node"),
            time("time"),
            encoded("gpus"),
            *(made(state.value, "Int64", partial(_gpus_in, state)) for state in records.GpuState),
            *(real(f"{state.value}_s") for state in records.GpuState),
        ),
        key="job",
    ),
    Table(
        "gpu_metrics",
        records.GpuSample,
        (
            text("id"),
            text("node"),
            integer("gpu"),
            text("uuid"),
            text("name"),
            time("time"),
            maybe_integer("utilisation"),
            maybe_integer("memory_utilisation"),
            maybe_integer("memory_used_bytes"),
            maybe_integer("memory_total_bytes"),
            maybe_real("power_watts"),
            maybe_integer("temperature_c"),
            maybe_integer("sm_clock_mhz"),
            maybe_integer("memory_clock_mhz"),
            made("throttle_reasons", "Array(String)", lambda sample: sample.throttle_reasons or []),
            maybe_integer("ecc_corrected"),
            maybe_integer("ecc_uncorrected"),
            maybe_integer("rows_remapped"),
            maybe_integer("nvlink_errors"),
            maybe_integer("nvlink_active"),
            made("xids", "Array(Int64)", lambda sample: fitting(sample.xids)),
            made(
                "jobs",
                "Array(String)",
                lambda sample: sorted({process.job for process in sample.processes if process.job}),
            ),
            encoded("processes"),
            plain("recorded", "Bool"),
            text("error"),
        ),
        key="node",
    ),
    Table(
        "job_events",
        records.JobEvent,
        (
            *_ATTEMPT,
            text("kind"),
            time("time"),
            text("scheduler"),
            texts("nodes"),
            maybe_real("gpus"),
            text("command"),
            text("directory"),
            text("user"),
            text("branch"),
            maybe_integer("exit_code"),
            maybe_integer("signal"),
            text("state"),
            text("packed_with"),
            plain("newcomer", "Bool"),
            integer("lines"),
            text("detail"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "model_answers",
        records.ModelAnswer,
        (
            *_ATTEMPT,
            text("about"),
            integer("revision"),
            time("time"),
            text("model"),
            text("prompt"),
            made("error_type", "String", part("review", "error_type", "")),
            made("faulty_component", "String", part("review", "faulty_component", "")),
            made("restartable", "Nullable(Bool)", part("review", "restartable", None)),
            made("certainty", "String", part("review", "certainty", "")),
            maybe_integer("root_line", part("review", "root", None)),
            encoded("lines"),
            encoded("numbers"),
            encoded("samples"),
            text("node"),
            integer("rank"),
            text("stream"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "estimates",
        records.Estimate,
        (
            *_JOB,
            time("time"),
            maybe_real("duration_s"),
            maybe_real("duration_low_s"),
            maybe_real("duration_high_s"),
            maybe_real("gpu_utilisation"),
            texts("similar_jobs"),
            text("method"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "decisions",
        records.Decision,
        (
            text("id"),
            text("action"),
            text("job"),
            text("node"),
            integer("attempt"),
            time("time"),
            time("expires"),
            text("mode"),
            text("policy"),
            text("reason"),
            text("cause"),
            text("cause_id"),
            texts("exclude_nodes"),
            plain("node_evidence", "Bool"),
            real("grace_s"),
            text("checkpoint"),
            text("beneficiary"),
            encoded("evidence"),
            text("signature"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "decision_results",
        records.DecisionResult,
        (
            text("id"),
            text("decision_id"),
            text("action"),
            text("job"),
            integer("attempt"),
            text("cause"),
            text("node"),
            text("user"),
            time("time"),
            text("outcome"),
            text("detail"),
            plain("seen", "Map(String, String)"),
            text("actuator"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "approvals",
        records.OperatorCommand,
        (
            text("id"),
            text("command"),
            text("about"),
            text("job"),
            text("user"),
            text("principal"),
            text("host"),
            time("time"),
            maybe_time("expires"),
            text("reason"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "feedback",
        records.Feedback,
        (
            *_ATTEMPT,
            time("time"),
            text("user"),
            text("cause"),
            text("error_type"),
            text("component"),
            text("line"),
            text("verdict_id"),
            text("verdict"),
            text("comment"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "node_findings",
        records.NodeFinding,
        (
            *_ATTEMPT,
            text("node"),
            time("time"),
            maybe_time("since"),
            maybe_integer("gpu"),
            text("device"),
            text("signature"),
            text("kind"),
            text("severity"),
            text("error_type"),
            text("component"),
            plain("restartable", "Nullable(Bool)"),
            real("confidence"),
            made("place_topic", "String", part("place", "topic", "")),
            maybe_integer("place_partition", part("place", "partition", None)),
            maybe_integer("place_offset", part("place", "offset", None)),
            maybe_integer("place_line", part("place", "line", None)),
            made("text", "String", part("place", "text", "")),
            texts("jobs"),
            integer("times"),
        ),
        key="node",
    ),
    Table(
        "dead_letters",
        records.DeadLetter,
        (
            text("id"),
            text("topic"),
            integer("partition"),
            integer("offset"),
            time("time"),
            text("reason"),
            text("stage"),
            plain("key", "Nullable(String)"),
            text("value"),
            integer("size"),
            text("sha256"),
            plain("truncated", "Bool"),
        ),
        key="topic",
    ),
)

BY_RECORD: dict[type[Record], Table] = {table.record: table for table in TABLES}

TABLE_OF: dict[str, str] = {
    topic.name: BY_RECORD[topic.record].name for topic in records.TOPICS if topic.record in BY_RECORD
}
"""The table of each topic whose records have one."""

STORED_TOPICS: tuple[str, ...] = tuple(TABLE_OF)
"""The topics whose records have a table: what a sink subscribes to."""
