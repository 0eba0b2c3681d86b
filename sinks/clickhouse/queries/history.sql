-- title: All verdicts on a job's failures
-- about: All revisions of the verdicts on a job, newest attempt first, in the order in which they were made.
-- param job String = : only this job; empty for all
-- param limit UInt32 = 100: rows at most

SELECT
    job, attempt, revision, time, error_type, faulty_component, node, rank, restartable, confidence, source,
    confirmed_by, contradicted_by, signature, final, exit_code, signal, message, summary, root_topic, root_partition, root_offset, root_line, root_text, evidence, opinions
FROM failures
WHERE {job:String} = '' OR job = {job:String} AND incarnation IN ({incarnation:String}, '')
ORDER BY job, incarnation, attempt DESC, revision, confidence DESC, id
LIMIT 1 BY job, incarnation, attempt, revision
LIMIT {limit:UInt32}
