-- title: Top causes this week
-- about: Which causes ended most attempts lately, on how many jobs and nodes, and what they cost.
-- param days UInt32 = 7: how many days back
-- param limit UInt32 = 20: rows at most

WITH cost AS
(
    SELECT job, attempt, incarnation, gpus * dateDiff('millisecond', started, assumeNotNull(ended)) / 3600000 AS hours
    FROM attempts
    WHERE ended IS NOT NULL
)
SELECT
    v.signature AS signature, v.error_type AS error_type, v.faulty_component AS faulty_component,
    count() AS failures,
    round(count() / sum(count()) OVER (), 3) AS share,
    uniqExact(v.job) AS jobs,
    uniqExactIf(v.node, v.node != '') AS nodes,
    round(sum(cost.hours), 3) AS gpu_hours,
    argMax(v.message, v.time) AS latest_message
FROM verdicts AS v
LEFT JOIN cost ON cost.job = v.job AND cost.attempt = v.attempt AND cost.incarnation = v.incarnation
WHERE v.time > now() - toIntervalDay({days:UInt32})
GROUP BY signature, error_type, faulty_component
ORDER BY failures DESC, gpu_hours DESC, signature, error_type
LIMIT {limit:UInt32}
