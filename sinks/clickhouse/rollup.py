"""The per-minute roll-up, and how it stays exact.

ClickHouse writes an insert's rows first and what its materialized view makes of them afterwards. An engine killed in between has
the rows and not their share of the roll-up. The repeated insert finds the rows there and drops them. So wherever
rows of `job_metrics` are found to be there already, their minutes are counted again and the difference is added: one
insert, whole or not there, and nothing where nothing is missing.
"""

import uuid
from collections.abc import Collection

from clickhouse_connect.driver.client import Client

from .faults import translated_errors

ROLLUP = "job_throughput_1m"

_RECONCILE = f"""
INSERT INTO {ROLLUP}
SELECT
    b.job, b.rank, b.minute, b.attempt, b.throughput_unit,
    b.reports - r.reports,
    b.throughput_reports - r.throughput_reports,
    b.throughput_sum - r.throughput_sum,
    b.throughput_min,
    b.throughput_max,
    b.step_time_reports - r.step_time_reports,
    b.step_time_sum - r.step_time_sum,
    b.first_step,
    b.last_step,
    b.stored
FROM
(
    SELECT
        job, rank, toStartOfMinute(time) AS minute, attempt, ifNull(m.throughput_unit, '') AS throughput_unit,
        toInt64(count()) AS reports,
        toInt64(count(throughput)) AS throughput_reports,
        sum(toFloat64(ifNull(throughput, 0))) AS throughput_sum,
        min(throughput) AS throughput_min,
        max(throughput) AS throughput_max,
        toInt64(count(step_time_s)) AS step_time_reports,
        sum(toFloat64(ifNull(step_time_s, 0))) AS step_time_sum,
        min(step) AS first_step,
        max(step) AS last_step,
        max(m.stored) AS stored
    FROM job_metrics AS m FINAL
    WHERE job IN {{jobs:Array(String)}}
        AND time >= toStartOfMinute(fromUnixTimestamp64Micro({{since:Int64}}, 'UTC'))
        AND time < toStartOfMinute(fromUnixTimestamp64Micro({{until:Int64}}, 'UTC')) + INTERVAL 1 MINUTE
    GROUP BY job, rank, minute, attempt, throughput_unit
) AS b
LEFT JOIN
(
    SELECT
        job, rank, minute, attempt, throughput_unit,
        sum(t.reports) AS reports,
        sum(t.throughput_reports) AS throughput_reports,
        sum(t.throughput_sum) AS throughput_sum,
        sum(t.step_time_reports) AS step_time_reports,
        sum(t.step_time_sum) AS step_time_sum
    FROM {ROLLUP} AS t
    WHERE job IN {{jobs:Array(String)}}
        AND minute >= toStartOfMinute(fromUnixTimestamp64Micro({{since:Int64}}, 'UTC'))
        AND minute <= fromUnixTimestamp64Micro({{until:Int64}}, 'UTC')
    GROUP BY job, rank, minute, attempt, throughput_unit
) AS r USING (job, rank, minute, attempt, throughput_unit)
WHERE b.reports != r.reports
"""  # noqa: S608 - no outside text: the table's name is the constant above


def reconcile(client: Client, jobs: Collection[str], since: int, until: int) -> None:
    """Make the roll-up of `jobs` agree with their rows from the minute of `since` to that of `until` (microseconds since 1970).

    Raises:
        SinkUnavailable: The server is away; do it again.
        SinkRejected: The tables are missing.
    """
    with translated_errors(f"counting {ROLLUP} again"):
        client.command(
            _RECONCILE,
            parameters={"jobs": sorted(jobs), "since": since, "until": until},
            # Two corrections may be equal. Without a name of its own the second would be taken for a repeat of the first.
            settings={"insert_deduplication_token": uuid.uuid4().hex, "async_insert": 0},
        )
