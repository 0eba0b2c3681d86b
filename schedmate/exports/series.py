"""Metrics of a job by step, from ClickHouse."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from clickhouse_connect.driver.client import Client

from schedmate_records import UserError
from sinks.clickhouse.incarnations import find_job
from sinks.clickhouse.queries import ask

NAMES: Final = {"loss": "loss", "step_time_s": "step time (s)", "throughput": "throughput"}
"""Columns that are exported, and what each is called there."""

_ATTEMPT: Final = (
    "SELECT max(attempt) AS attempt, count() AS reports FROM job_metrics "
    "WHERE job = {job:String} AND incarnation IN ({incarnation:String}, '')"
)
_RANK: Final = (
    "SELECT min(rank) AS rank, count() AS reports FROM job_metrics "
    "WHERE job = {job:String} AND incarnation IN ({incarnation:String}, '') AND attempt = {attempt:Int64}"
)
_VALUES: Final = """
SELECT toUnixTimestamp64Micro(m.time) / 1e6 AS at, m.step AS step, m.loss AS loss, m.step_time_s AS step_time_s, m.throughput AS throughput
FROM job_metrics AS m
WHERE m.job = {job:String} AND m.incarnation IN ({incarnation:String}, '') AND m.attempt = {attempt:Int64} AND m.rank = {rank:Int64}
ORDER BY m.time, m.id
"""


class NothingKnown(UserError):
    """Nothing of a job is on record."""


class Value(NamedTuple):
    """One measurement at `at` (seconds since 1970); `step` counts reports where the log names no step."""

    name: str
    step: int
    at: float
    value: float


@dataclass(frozen=True)
class Series:
    """The measurements of one attempt, as its lowest rank reported them, in order of time."""

    job: str
    attempt: int
    rank: int
    rows: list[Mapping[str, Any]]

    def values(self) -> Iterator[Value]:
        """Yield each value that is a number."""
        for place, row in enumerate(self.rows):
            step = row["step"] if row["step"] is not None else place
            for column, name in NAMES.items():
                value = row[column]
                if value is not None and math.isfinite(value):
                    yield Value(name, step, row["at"], value)


def read_series(client: Client, job: str, attempt: int | None = None) -> Series:
    """Return what `attempt` of `job` reported; of the newest where none is named.

    Raises:
        NothingKnown: It reported nothing.
        SinkRejected: The database has no tables.
        SinkUnavailable: The server is away.
    """
    found = find_job(client, job)
    about = {"job": found.job, "incarnation": found.incarnation}
    if attempt is None:
        (newest,) = _rows(client, _ATTEMPT, **about)
        if not newest["reports"]:
            raise NothingKnown(
                f"expected a job that reported progress, got {job[:200]!r}, of which nothing is on record"
            )
        attempt = int(newest["attempt"])
    (lowest,) = _rows(client, _RANK, **about, attempt=str(attempt))
    if not lowest["reports"]:
        raise NothingKnown(f"expected an attempt of job {job[:200]!r} that reported progress, got {attempt}")
    rank = int(lowest["rank"])
    return Series(job, attempt, rank, _rows(client, _VALUES, **about, attempt=str(attempt), rank=str(rank)))


def _rows(client: Client, sql: str, **values: str) -> list[Mapping[str, Any]]:
    answer = ask(client, sql, values)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
