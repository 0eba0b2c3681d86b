-- title: Verdicts that were revised
-- about: Attempts whose first verdict was replaced by another conclusion, or retracted, with both verdicts and their sources.
-- param job String = : only this job; empty for all
-- param days UInt32 = 30: how many days back
-- param limit UInt32 = 100: rows at most

SELECT
    job, attempt, revisions, first_error_type, first_signature, first_source,
    last_error_type, last_signature, last_source, last_confirmed_by, last_contradicted_by, last_message,
    last_time
FROM revised_verdicts
WHERE last_time > now() - toIntervalDay({days:UInt32}) AND ({job:String} = '' OR job = {job:String} AND incarnation IN ({incarnation:String}, ''))
ORDER BY last_time DESC, job, attempt
LIMIT {limit:UInt32}
