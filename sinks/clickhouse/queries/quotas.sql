-- title: Quotas of spot jobs
-- about: GPUs that spot jobs might have, what they had, what high-priority jobs were expected to want, and what bound the quota; the newest first.
-- param cluster String = : one cluster; empty for all
-- param hours UInt32 = 24: how many hours back
-- param limit UInt32 = 100: rows at most

SELECT
    cluster,
    time,
    round(quota, 1) AS quota,
    spot_in_use,
    spot_waiting,
    in_use,
    waiting,
    capacity,
    round(capacity - available, 1) AS expected,
    round(safety, 2) AS safety,
    round(eviction_rate, 3) AS eviction_rate,
    forecaster,
    reason
FROM quotas FINAL
WHERE time > now() - toIntervalHour({hours:UInt32}) AND ({cluster:String} = '' OR cluster = {cluster:String})
ORDER BY time DESC, cluster
LIMIT {limit:UInt32}
