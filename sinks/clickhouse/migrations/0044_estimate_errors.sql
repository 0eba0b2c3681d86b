-- Errors are relative to the whole run for all estimates but those of the job's own progress, of whatever revision.

CREATE OR REPLACE VIEW estimate_scores AS
SELECT
    e.job AS job,
    e.attempt AS attempt,
    e.revision AS revision,
    e.time AS time,
    e.method AS method,
    e.done AS done,
    a.user AS user,
    p.partition AS partition,
    a.gpus AS gpus,
    a.state AS state,
    ifNull(a.signal, 0) = 0 AND ifNull(a.exit_code, if(a.state = 'COMPLETED', 0, 1)) = 0 AS ended_well,
    e.duration_s AS duration_s,
    e.duration_low_s AS duration_low_s,
    e.duration_high_s AS duration_high_s,
    dateDiff('millisecond', a.started, assumeNotNull(a.ended)) / 1000 AS took_s,
    abs(took_s - assumeNotNull(e.duration_s)) / greatest(took_s - if(e.method != 'progress', 0, dateDiff('millisecond', a.started, e.time) / 1000), 1) AS error,
    took_s >= ifNull(e.duration_low_s, 0) AND took_s <= ifNull(e.duration_high_s, inf) AS inside,
    isNotNull(e.duration_low_s) AND isNotNull(e.duration_high_s) AS has_interval
FROM (SELECT * FROM estimates WHERE isNotNull(duration_s) ORDER BY job, id LIMIT 1 BY job, id) AS e
INNER JOIN (SELECT * FROM attempts WHERE isNotNull(ended)) AS a ON a.job = e.job AND a.attempt = e.attempt
LEFT JOIN (
    SELECT job, attempt, argMaxIf(partition, time, partition != '') AS partition
    FROM job_events WHERE kind IN ('submitted', 'requeued', 'started', 'ended') GROUP BY job, attempt
) AS p ON p.job = e.job AND p.attempt = e.attempt;
