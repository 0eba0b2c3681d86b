-- title: Latest verdict of every job
-- about: The highest revision of each job's newest attempt that has one, with the line it rests on.
-- param job String = : only this job; empty for all
-- param limit UInt32 = 100: rows at most

SELECT
    job, incarnation, attempt, revision, time, error_type, faulty_component, node, restartable, round(confidence, 2) AS confidence,
    source, confirmed_by, contradicted_by, signature, final, message,
    root_topic, root_partition, root_offset, root_line, root_text
FROM (SELECT * FROM verdicts WHERE {job:String} = '' OR job = {job:String} AND incarnation IN ({incarnation:String}, '') ORDER BY job, incarnation, attempt DESC LIMIT 1 BY job, incarnation)
ORDER BY time DESC, job
LIMIT {limit:UInt32}
