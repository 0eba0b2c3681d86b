"""Records to columns: which table a record goes to, and what stands in each of its columns."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

import records
from records import Position, Record

Row = tuple[Position, Record]
Values = Callable[[Sequence[Record]], Sequence[Any]]

_LOW, _HIGH = -(2**63), 2**63 - 1
_LAST_MICROS = 10_382_256_000_000_000
"""The beginning of 2299, the last year of ClickHouse's calendar; a number that a float64 holds exactly."""

_json = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class Column:
    """A column's name, its ClickHouse type on insert, and how to fill it from records."""

    name: str
    type: str
    values: Values


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


def micros(seconds: Iterable[float]) -> list[int]:
    """Return times in seconds since 1970 as microseconds, moved into ClickHouse's calendar where they are outside (or not numbers)."""
    times = np.nan_to_num(np.fromiter(seconds, np.float64), nan=0.0)
    found: list[int] = np.clip(np.rint(times * 1e6), 0, _LAST_MICROS).astype(np.int64).tolist()
    return found


def _plain(name: str, type_: str) -> Column:
    get = attrgetter(name)
    return Column(name, type_, lambda rows: list(map(get, rows)))


# Many of these columns are LowCardinality. The engine builds the dictionaries, faster than the driver does in Python.
def _text(name: str) -> Column:
    return _plain(name, "String")


def _texts(name: str) -> Column:
    return _plain(name, "Array(String)")


# Some of these columns are Float32. The engine converts; packing here would refuse a loss of 1e39.
def _real(name: str) -> Column:
    return _plain(name, "Float64")


def _maybe_real(name: str) -> Column:
    return _plain(name, "Nullable(Float64)")


def whole(value: int) -> int:
    """Return `value`, or the nearest number of 64 bits. JSON knows no limit."""
    return min(max(value, _LOW), _HIGH)


def fitting(values: list[int]) -> list[int]:
    """Return `values`, each as `whole` makes it."""
    try:
        array("q", values)
    except OverflowError:
        return list(map(whole, values))
    return values


def _whole(name: str) -> Column:
    get = attrgetter(name)
    return Column(name, "Int64", lambda rows: fitting(list(map(get, rows))))


def _maybe_whole(name: str, get: Callable[[Any], int | None] | None = None) -> Column:
    get = get or attrgetter(name)

    def values(rows: Sequence[Record]) -> Sequence[Any]:
        found = list(map(get, rows))
        try:
            array("q", [value or 0 for value in found])
        except OverflowError:
            return [value if value is None else whole(value) for value in found]
        return found

    return Column(name, "Nullable(Int64)", values)


def _time(name: str) -> Column:
    get = attrgetter(name)
    return Column(name, "DateTime64(6, 'UTC')", lambda rows: micros(map(get, rows)))


def _maybe_time(name: str) -> Column:
    get = attrgetter(name)

    def values(rows: Sequence[Record]) -> Sequence[Any]:
        found = list(map(get, rows))
        times = micros(0.0 if value is None else value for value in found)
        return [None if value is None else time for value, time in zip(found, times, strict=True)]

    return Column(name, "Nullable(DateTime64(6, 'UTC'))", values)


def _encoded(name: str) -> Column:
    get = attrgetter(name)
    return Column(name, "String", lambda rows: [_json(get(row)) for row in rows])


def _of_root(part: str, missing: Any) -> Callable[[Any], Any]:
    get = attrgetter(part)
    return lambda failure: missing if failure.root is None else get(failure.root)


def _over_ranks(part: str) -> Callable[[Any], Any]:
    get = attrgetter(part)
    return lambda metric: None if metric.over_ranks is None else get(metric.over_ranks)


def _of_review(part: str, missing: Any) -> Callable[[Any], Any]:
    get = attrgetter(part)
    return lambda answer: missing if answer.review is None else get(answer.review)


def _made(name: str, type_: str, get: Callable[[Any], Any]) -> Column:
    return Column(name, type_, lambda rows: list(map(get, rows)))


_JOB = (_text("id"), _text("job"))
_ATTEMPT = (*_JOB, _whole("attempt"))

TABLES: tuple[Table, ...] = (
    Table(
        "job_metrics",
        records.JobMetric,
        (
            *_ATTEMPT,
            _text("node"),
            _whole("rank"),
            _time("time"),
            _maybe_whole("step"),
            _maybe_real("epoch"),
            _maybe_real("step_time_s"),
            _maybe_real("throughput"),
            _plain("throughput_unit", "Nullable(String)"),
            _maybe_real("loss"),
            _plain("loss_not_finite", "Bool"),
            _real("confidence"),
            _text("method"),
            _whole("reports"),
            _maybe_time("since"),
            _maybe_whole("since_step"),
            _maybe_whole("ranks", _over_ranks("ranks")),
            _made("job_step_time_s", "Nullable(Float64)", _over_ranks("step_time_s")),
            _made("rank_spread", "Nullable(Float64)", _over_ranks("spread")),
            _maybe_whole("slowest_rank", _over_ranks("slowest")),
            _made("rank_lag", "Nullable(Float64)", _over_ranks("lag")),
            _encoded("evidence"),
        ),
        key="job",
    ),
    Table(
        "failures",
        records.Failure,
        (
            *_ATTEMPT,
            _whole("revision"),
            _time("time"),
            _text("node"),
            _maybe_whole("rank"),
            _text("message"),
            _text("error_type"),
            _text("faulty_component"),
            _plain("restartable", "Nullable(Bool)"),
            _real("confidence"),
            _text("source"),
            _text("signature"),
            _plain("final", "Bool"),
            _maybe_whole("exit_code"),
            _maybe_whole("signal"),
            _made("root_topic", "String", _of_root("topic", "")),
            _maybe_whole("root_partition", _of_root("partition", None)),
            _maybe_whole("root_offset", _of_root("offset", None)),
            _maybe_whole("root_line", _of_root("line", None)),
            _made("root_text", "String", _of_root("text", "")),
            _encoded("evidence"),
        ),
        key="job",
    ),
    Table(
        "slowdowns",
        records.Slowdown,
        (
            *_ATTEMPT,
            _text("packed_job"),
            _text("node"),
            _time("time"),
            _real("before_s"),
            _real("after_s"),
            _real("ratio"),
            _real("threshold"),
            _whole("steps_after"),
            _encoded("evidence"),
        ),
        key="job",
    ),
    Table(
        "alarms",
        records.Alarm,
        (
            *_ATTEMPT,
            _text("node"),
            _maybe_whole("rank"),
            _text("kind"),
            _plain("raised", "Bool"),
            _time("time"),
            _time("since"),
            _maybe_real("value"),
            _maybe_real("usual"),
            _maybe_real("limit"),
            _text("detail"),
            _encoded("evidence"),
        ),
        key="job",
    ),
    Table(
        "gpu_metrics",
        records.GpuSample,
        (
            _text("id"),
            _text("node"),
            _whole("gpu"),
            _text("uuid"),
            _text("name"),
            _time("time"),
            _maybe_whole("utilisation"),
            _maybe_whole("memory_used_bytes"),
            _maybe_whole("memory_total_bytes"),
            _maybe_real("power_watts"),
            _maybe_whole("temperature_c"),
            _maybe_whole("sm_clock_mhz"),
            _maybe_whole("memory_clock_mhz"),
            _made("throttle_reasons", "Array(String)", lambda sample: sample.throttle_reasons or []),
            _maybe_whole("ecc_corrected"),
            _maybe_whole("ecc_uncorrected"),
            _maybe_whole("rows_remapped"),
            _maybe_whole("nvlink_errors"),
            _maybe_whole("nvlink_active"),
            _made("xids", "Array(Int64)", lambda sample: fitting(sample.xids)),
            _made(
                "jobs",
                "Array(String)",
                lambda sample: sorted({process.job for process in sample.processes if process.job}),
            ),
            _encoded("processes"),
            _plain("recorded", "Bool"),
            _text("error"),
        ),
        key="node",
    ),
    Table(
        "job_events",
        records.JobEvent,
        (
            *_ATTEMPT,
            _text("kind"),
            _time("time"),
            _text("scheduler"),
            _texts("nodes"),
            _maybe_real("gpus"),
            _text("command"),
            _text("directory"),
            _text("user"),
            _text("branch"),
            _maybe_whole("exit_code"),
            _maybe_whole("signal"),
            _text("state"),
            _text("packed_with"),
            _plain("newcomer", "Bool"),
            _whole("lines"),
            _text("detail"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "model_answers",
        records.ModelAnswer,
        (
            *_ATTEMPT,
            _text("about"),
            _whole("revision"),
            _time("time"),
            _text("model"),
            _text("prompt"),
            _made("error_type", "String", _of_review("error_type", "")),
            _made("faulty_component", "String", _of_review("faulty_component", "")),
            _made("restartable", "Nullable(Bool)", _of_review("restartable", None)),
            _made("certainty", "String", _of_review("certainty", "")),
            _maybe_whole("root_line", _of_review("root", None)),
            _encoded("lines"),
            _encoded("numbers"),
            _encoded("samples"),
            _text("node"),
            _whole("rank"),
            _text("stream"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "estimates",
        records.Estimate,
        (
            *_JOB,
            _time("time"),
            _maybe_real("duration_s"),
            _maybe_real("duration_low_s"),
            _maybe_real("duration_high_s"),
            _maybe_real("gpu_utilisation"),
            _texts("similar_jobs"),
            _text("method"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "decisions",
        records.Decision,
        (
            _text("id"),
            _text("action"),
            _text("job"),
            _whole("attempt"),
            _time("time"),
            _time("expires"),
            _text("mode"),
            _text("policy"),
            _text("reason"),
            _text("cause"),
            _text("cause_id"),
            _texts("exclude_nodes"),
            _text("beneficiary"),
            _encoded("evidence"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "decision_results",
        records.DecisionResult,
        (
            _text("id"),
            _text("decision_id"),
            _text("action"),
            _text("job"),
            _whole("attempt"),
            _text("cause"),
            _text("node"),
            _time("time"),
            _text("outcome"),
            _text("detail"),
            _plain("seen", "Map(String, String)"),
            _text("actuator"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "dead_letters",
        records.DeadLetter,
        (
            _text("id"),
            _text("topic"),
            _whole("partition"),
            _whole("offset"),
            _time("time"),
            _text("reason"),
            _text("stage"),
            _plain("key", "Nullable(String)"),
            _text("value"),
        ),
        key="topic",
    ),
)

BY_RECORD: dict[type[Record], Table] = {table.record: table for table in TABLES}

STORED_TOPICS: tuple[str, ...] = tuple(records.BY_RECORD[table.record].name for table in TABLES)
"""The topics whose records have a table: what a sink subscribes to."""
