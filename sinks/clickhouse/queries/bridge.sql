-- title: What the bridge did
-- about: Every decision with its reason and what became of it, newest first.
-- param job String = : only this job; empty for all
-- param days UInt32 = 30: how many days back
-- param limit UInt32 = 100: rows at most

SELECT
    d.time AS time, d.action AS action, d.job AS job, d.attempt AS attempt, d.mode AS mode, d.policy AS policy, d.reason AS reason,
    if(o.last_outcome = '', 'waiting', o.last_outcome) AS outcome,
    o.last_detail AS detail,
    o.last_actuator AS actuator,
    if(o.last_outcome = '', NULL, round(dateDiff('millisecond', d.time, o.last_time) / 1000, 3)) AS seconds
FROM decisions AS d
LEFT JOIN decision_outcomes AS o ON o.decision_id = d.id
WHERE d.time > now() - toIntervalDay({days:UInt32}) AND ({job:String} = '' OR d.job = {job:String} AND d.incarnation IN ({incarnation:String}, ''))
ORDER BY d.time DESC, d.id
LIMIT {limit:UInt32}
