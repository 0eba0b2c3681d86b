-- title: Where a language model sees another cause
-- about: Verdicts of which a language model said another error type, with what it rests on. Neither need be right.
-- param job String = : only this job; empty for all
-- param days UInt32 = 30: how many days back
-- param limit UInt32 = 100: rows at most

SELECT job, attempt, verdict, confidence, signature, message, said, said_component, certainty, said_line, model, time
FROM model_disagreements
WHERE time > now() - toIntervalDay({days:UInt32}) AND ({job:String} = '' OR job = {job:String} AND incarnation IN ({incarnation:String}, ''))
ORDER BY time DESC, id
LIMIT {limit:UInt32}
