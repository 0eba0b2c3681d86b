"""Extent of a job's measurements: attempts, ranks and minutes, from the roll-up."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sinks.clickhouse.incarnations import FoundJob

from .database import Database

_REPORTS: Final = """
SELECT attempt, min(t.rank) AS first, max(t.rank) AS last, uniqExact(t.rank) AS ranks, min(t.minute) AS since, max(t.minute) AS until
FROM job_throughput_1m AS t
WHERE t.job = {job:String}
    AND t.minute >= toStartOfMinute(fromUnixTimestamp({since:Int64})) AND t.minute < fromUnixTimestamp({until:Int64})
GROUP BY t.attempt
ORDER BY attempt
"""


@dataclass(frozen=True)
class Reports:
    """Ranks and minutes of one attempt: `first` and `last` of the reporting `ranks`, and the first and last minute with a report."""

    attempt: int
    first: int
    last: int
    ranks: int
    since: datetime
    until: datetime


def read_reports(database: Database, job: FoundJob) -> Sequence[Reports]:
    """Return the reports of each attempt of `job` that has any, the newest last. Raises as `Database.rows` does."""
    return [Reports(**row) for row in database.rows(_REPORTS, **job.values())]
