-- title: Checkpoints by job
-- about: How often jobs save, how long it takes, and the last checkpoint that is complete; those that lose most come first.
-- param job String = : one job; empty for all
-- param days UInt32 = 7: how many days back
-- param limit UInt32 = 100: rows at most

SELECT
    job, attempt,
    countIf(state = 'durable') AS durable,
    countIf(state = 'failed') AS failed,
    round(quantile(0.5)(duration_s), 1) AS typical_duration_s,
    round(argMax(interval_s, number), 1) AS interval_s,
    maxIf(since, state = 'durable') AS last_durable,
    argMaxIf(step, since, state = 'durable') AS last_step,
    argMaxIf(path, since, state = 'durable') AS last_path
FROM checkpoint_saves
WHERE since > now() - toIntervalDay({days:UInt32}) AND ({job:String} = '' OR job = {job:String} AND incarnation IN ({incarnation:String}, ''))
GROUP BY job, attempt
ORDER BY last_durable, job, attempt
LIMIT {limit:UInt32}
