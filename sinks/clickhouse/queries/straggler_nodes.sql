-- title: Nodes that slow several jobs
-- about: Nodes of the ranks that were the stragglers of several jobs of several users, the worst first. One job is weak evidence: its own rank may have more to do. So are several jobs of one program, whose first rank may be on one node each time.
-- param days UInt32 = 1: how many days back
-- param jobs UInt32 = 3: at least so many different jobs
-- param users UInt32 = 2: at least so many different users; those that no scheduler names do not count
-- param limit UInt32 = 50: rows at most

-- One constant: a subquery by name is run again wherever it is named.
WITH
(
    SELECT groupArray((job, attempt, assumeNotNull(s.rank), s.since, s.value / nullIf(s.usual, 0)))
    FROM alarm_spans AS s
    WHERE kind = 'straggler' AND s.rank IS NOT NULL
        AND (s.since > now() - toIntervalDay({days:UInt32}) OR s.over > now() - toIntervalDay({days:UInt32}))
) AS found,
lagging AS
(
    SELECT f.1 AS job, f.2 AS attempt, f.3 AS rank, f.4 AS since, f.5 AS lag
    FROM (SELECT arrayJoin(found) AS f)
),
places AS
(
    SELECT job, attempt, rank, argMax(toString(m.node), m.time) AS node
    FROM job_metrics AS m
    WHERE (job, rank) IN (SELECT f.1, f.3 FROM (SELECT arrayJoin(found) AS f))
    GROUP BY job, attempt, rank
),
owners AS
(
    SELECT job, argMin(e.user, e.scheduler IN ('pipe', 'producer')) AS user
    FROM job_events AS e
    WHERE job IN (SELECT arrayJoin(found.1)) AND e.user != ''
    GROUP BY job
),
there AS
(
    SELECT toString(node) AS node, uniqExact(a.job) AS jobs_there
    FROM attempts AS a ARRAY JOIN a.nodes AS node
    WHERE notEmpty(found)  -- mostly there is none, and no attempt need be read
        AND (a.ended IS NULL OR a.ended > now() - toIntervalDay({days:UInt32}))
    GROUP BY node
)

SELECT
    p.node AS node,
    uniqExact(l.job) AS slowed_jobs,
    uniqExactIf(o.user, o.user != '') AS slowed_users,
    any(t.jobs_there) AS jobs_there,
    count() AS alarms,
    round(max(l.lag), 2) AS worst_lag,
    arraySort(groupUniqArray(20)(l.rank)) AS some_ranks,
    min(l.since) AS first,
    max(l.since) AS last,
    arraySort(groupUniqArray(20)(l.job)) AS some_jobs
FROM lagging AS l
INNER JOIN places AS p ON p.job = l.job AND p.attempt = l.attempt AND p.rank = l.rank
LEFT JOIN owners AS o ON o.job = l.job
LEFT JOIN there AS t ON t.node = p.node
WHERE p.node != ''
GROUP BY p.node
HAVING slowed_jobs >= {jobs:UInt32} AND slowed_users >= {users:UInt32}
ORDER BY slowed_jobs DESC, slowed_users DESC, worst_lag DESC, node
LIMIT {limit:UInt32}
