-- title: Nodes that slow several jobs
-- about: Nodes of the ranks that were the stragglers of several jobs, the worst first. One job alone says little: its own rank may have more to do.
-- param days UInt32 = 7: how many days back
-- param jobs UInt32 = 2: at least so many different jobs
-- param limit UInt32 = 50: rows at most

WITH lagging AS
(
    SELECT job, attempt, assumeNotNull(s.rank) AS rank, s.since AS since, s.value / nullIf(s.usual, 0) AS lag
    FROM alarm_spans AS s
    WHERE kind = 'straggler' AND s.rank IS NOT NULL AND s.since > now() - toIntervalDay({days:UInt32})
),
places AS
(
    SELECT job, attempt, rank, argMax(toString(m.node), m.time) AS node
    FROM job_metrics AS m
    WHERE job IN (SELECT job FROM lagging)
    GROUP BY job, attempt, rank
)

SELECT
    node,
    uniqExact(job) AS slowed_jobs,
    count() AS alarms,
    round(max(lag), 2) AS worst_lag,
    min(since) AS first,
    max(since) AS last,
    arraySort(groupUniqArray(20)(job)) AS some_jobs
FROM lagging
INNER JOIN places USING (job, attempt, rank)
WHERE node != ''
GROUP BY node
HAVING slowed_jobs >= {jobs:UInt32}
ORDER BY slowed_jobs DESC, worst_lag DESC, node
LIMIT {limit:UInt32}
