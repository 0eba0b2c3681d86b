-- title: Where a language model sees another cause
-- about: Verdicts for which a language model named another error type, with its lines. Either may be wrong.
-- param job String = : only this job; empty for all
-- param days UInt32 = 30: how many days back
-- param limit UInt32 = 100: rows at most

SELECT job, attempt, verdict, confidence, signature, message, said, said_component, certainty, said_line, model, time
FROM model_disagreements
WHERE time > now() - toIntervalDay({days:UInt32}) AND ({job:String} = '' OR job = {job:String} AND incarnation IN ({incarnation:String}, ''))
ORDER BY time DESC, id
LIMIT {limit:UInt32}
