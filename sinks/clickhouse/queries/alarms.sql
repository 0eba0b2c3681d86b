-- title: Alarms of running jobs
-- about: Hangs, GPUs held idle, losses that are no numbers, loss spikes, slower steps and stragglers; those that stand first.
-- param job String = : one job; empty for all
-- param days UInt32 = 7: how many days back
-- param limit UInt32 = 100: rows at most

SELECT
    job, attempt, kind, rank, node,
    since,
    over,
    activity AS gpus,
    round(gpu_hours, 2) AS gpu_hours,
    detail
FROM alarm_spans
WHERE since > now() - toIntervalDay({days:UInt32}) AND ({job:String} = '' OR job = {job:String} AND incarnation IN ({incarnation:String}, ''))
ORDER BY over IS NULL DESC, since DESC
LIMIT {limit:UInt32}
