"""Spot jobs: how many GPUs they may have in each cluster, and what the organisations' high-priority jobs will want."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .database import Database

DAYS: Final = 7
"""Clusters whose last quota is older are left out."""
HOURS: Final = 24
"""Of the curves."""
COLUMNS: Final = ("cluster", "time", "organisation", "in_use", "waiting", "peak", "median", "upper")
"""Columns of CSV: the newest demand of each organisation, in GPUs."""

_QUOTAS: Final = """
SELECT
    cluster, time, until, until < now64(6) AS stale, quota, reason, available, safety, guarantee, guaranteed_h, capacity, idle, in_use,
    waiting, spot_in_use, spot_waiting, eviction_rate, longest_wait_s, toString(forecaster) AS forecaster, history_h
FROM quotas
WHERE time > now() - toIntervalDay({days:UInt32})
ORDER BY cluster, time DESC, id LIMIT 1 BY cluster LIMIT {limit:UInt32}
"""
_DEMAND: Final = """
SELECT cluster, time, organisation, in_use, waiting, peak, median, upper
FROM organisation_demand
WHERE time > now() - toIntervalDay({days:UInt32})
  AND (cluster, time) IN (SELECT cluster, max(time) FROM quotas WHERE time > now() - toIntervalDay({days:UInt32}) GROUP BY cluster)
ORDER BY cluster, greatest(in_use, ifNull(upper, 0)) DESC, organisation LIMIT {limit:UInt32} BY cluster
"""
_BEYOND: Final = """
SELECT
    cluster, JSONExtractString(each, 'job') AS job, JSONExtractInt(each, 'attempt') AS attempt, JSONExtractFloat(each, 'gpus') AS gpus,
    JSONExtractBool(each, 'held') AS held, fromUnixTimestamp64Micro(toInt64(JSONExtractFloat(each, 'since') * 1e6), 'UTC') AS since
FROM (SELECT cluster, beyond FROM quotas WHERE time > now() - toIntervalDay({days:UInt32}) ORDER BY cluster, time DESC LIMIT 1 BY cluster)
ARRAY JOIN JSONExtractArrayRaw(beyond) AS each
ORDER BY cluster, since LIMIT {limit:UInt32} BY cluster
"""
_PAST: Final = """
SELECT cluster, groupArray(each.1) AS quotas, groupArray(each.2) AS used FROM
(
    SELECT cluster, (max(quota), max(spot_in_use)) AS each FROM quotas
    WHERE time > now() - toIntervalHour({hours:UInt32})
    GROUP BY cluster, toStartOfInterval(time, INTERVAL 15 MINUTE) AS at ORDER BY cluster, at
)
GROUP BY cluster
"""


@dataclass(frozen=True)
class ClusterQuota:
    """The newest quota of a cluster.

    Attributes:
        quota: The record, but for its lists; `stale`: its time is over.
        organisations: Demand, the largest first.
        beyond: Spot jobs that do not fit into the quota, those that wait longest first.
        quotas: Quotas of the last `HOURS`, oldest first.
        used: GPUs that spot jobs held then.
    """

    quota: Mapping[str, Any]
    organisations: Sequence[Mapping[str, Any]]
    beyond: Sequence[Mapping[str, Any]]
    quotas: Sequence[float | None]
    used: Sequence[float | None]


def list_quotas(database: Database) -> Sequence[ClusterQuota]:
    """Return the newest quota of every cluster. Raises as `Database.rows` does."""
    quotas = database.rows(_QUOTAS, days=DAYS, limit=20)
    if not quotas:
        return []
    demand = database.rows(_DEMAND, days=DAYS, limit=200)
    beyond = database.rows(_BEYOND, days=DAYS, limit=50)
    past = {row["cluster"]: row for row in database.rows(_PAST, hours=HOURS)}

    def rows_of(rows: Sequence[Mapping[str, Any]], cluster: str) -> list[Mapping[str, Any]]:
        return [row for row in rows if row["cluster"] == cluster]

    none: Mapping[str, Any] = {"quotas": (), "used": ()}
    return [
        ClusterQuota(
            row,
            rows_of(demand, name),
            rows_of(beyond, name),
            past.get(name, none)["quotas"],
            past.get(name, none)["used"],
        )
        for row in quotas
        for name in (row["cluster"],)
    ]


def demand_rows(quotas: Sequence[ClusterQuota]) -> Iterator[Mapping[str, Any]]:
    """Yield the demand of all organisations, cluster by cluster."""
    return (row for each in quotas for row in each.organisations)
