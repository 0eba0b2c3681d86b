-- title: Nodes by mean time between failures
-- about: Hours in which jobs ran on each node, over the infrastructure failures that name it; the worst first.
-- param weeks UInt32 = 8: how many weeks back
-- param month String = : such as 2026-11, instead of the last weeks
-- param limit UInt32 = 50: rows at most

WITH busy AS
(
    SELECT node, round(sum(dateDiff('millisecond', started, ifNull(ended, now64(6)))) / 3600000, 3) AS job_hours
    FROM attempts
    ARRAY JOIN nodes AS node
    WHERE if({month:String} = '', ifNull(ended, now64(6)) > now() - toIntervalWeek({weeks:UInt32}), formatDateTime(started, '%Y-%m') = {month:String})
    GROUP BY node
),
failed AS
(
    SELECT toString(node) AS node, count() AS failures, max(time) AS last_failure, argMax(signature, time) AS last_signature
    FROM verdicts
    WHERE error_type = 'infrastructure' AND node != ''
        AND if({month:String} = '', time > now() - toIntervalWeek({weeks:UInt32}), formatDateTime(time, '%Y-%m') = {month:String})
    GROUP BY node
)
SELECT
    failed.node AS node, failures,
    if(job_hours > 0, round(job_hours / failures, 3), NULL) AS hours_between_failures,
    job_hours, last_failure, last_signature
FROM failed
LEFT JOIN busy ON busy.node = failed.node
ORDER BY hours_between_failures IS NULL, hours_between_failures, failures DESC, node
LIMIT {limit:UInt32}
