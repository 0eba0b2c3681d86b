-- Of what is told before a job runs, the estimate that was told last before its start is scored: each attempt once. A language model's
-- answer may complete it (revision 1), before the start or after it. What its progress tells is scored each time, as before.

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
    abs(took_s - assumeNotNull(e.duration_s)) / greatest(took_s - if(e.runs, dateDiff('millisecond', a.started, e.time) / 1000, 0), 1) AS error,
    took_s >= ifNull(e.duration_low_s, 0) AND took_s <= ifNull(e.duration_high_s, inf) AS inside,
    isNotNull(e.duration_low_s) AND isNotNull(e.duration_high_s) AS has_interval
FROM
(
    SELECT n.*, n.method = 'progress' AS runs
    FROM (SELECT * FROM estimates ORDER BY job, id LIMIT 1 BY job, id) AS n
    INNER JOIN attempts AS s ON s.job = n.job AND s.attempt = n.attempt
    WHERE runs OR n.revision = 0 OR n.time <= s.started
    ORDER BY n.job, n.attempt, n.revision DESC
    LIMIT 1 BY n.job, n.attempt, if(runs, n.revision, 0)
) AS e
INNER JOIN (SELECT * FROM attempts WHERE isNotNull(ended)) AS a ON a.job = e.job AND a.attempt = e.attempt
LEFT JOIN (
    SELECT job, attempt, argMaxIf(partition, time, partition != '') AS partition
    FROM job_events WHERE kind IN ('submitted', 'requeued', 'started', 'ended') GROUP BY job, attempt
) AS p ON p.job = e.job AND p.attempt = e.attempt
WHERE isNotNull(e.duration_s);
