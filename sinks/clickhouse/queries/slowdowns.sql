-- title: Slowdowns by pair
-- about: Which job slows which when packed with it, by how much, and its speed after they were separated.
-- param days UInt32 = 30: how many days back
-- param limit UInt32 = 50: rows at most

SELECT
    job AS slowed_job, packed_job,
    uniqExactIf(id, isNull(recovered)) AS packings,
    round(min(ratio), 3) AS worst_ratio,
    round(min(recovered), 3) AS worst_recovered,
    round(argMax(before_s, time), 6) AS before_step_time_s,
    round(argMax(after_s, time), 6) AS after_step_time_s,
    argMax(node, time) AS node,
    max(time) AS latest
FROM slowdowns
WHERE time > now() - toIntervalDay({days:UInt32})
GROUP BY job, packed_job
ORDER BY worst_ratio, latest DESC
LIMIT {limit:UInt32}
