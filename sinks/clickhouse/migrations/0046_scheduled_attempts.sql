-- Events of pipes and other producers of logs count only for jobs that no scheduler has reported: every user of the cluster can write them.
-- Before, a pipe's end ended an attempt of which a scheduler had reported the start alone, and a pipe could add attempts to any job.

CREATE OR REPLACE VIEW attempts AS
WITH scheduled AS (SELECT job FROM job_events WHERE scheduler NOT IN ('pipe', 'producer'))
SELECT
    a.job AS job,
    a.attempt AS attempt,
    a.started AS started,
    if(a.last_end >= a.started, a.last_end, n.started) AS ended,
    a.nodes AS nodes,
    a.gpus AS gpus,
    a.user AS user,
    a.state AS state,
    a.exit_code AS exit_code,
    a.signal AS signal
FROM
(
    SELECT
        job,
        attempt,
        minIf(time, kind = 'started') AS started,
        maxOrNullIf(time, kind IN ('ended', 'requeued')) AS last_end,
        argMaxIf(nodes, time, kind = 'started') AS nodes,
        argMaxIf(ifNull(gpus, 0), time, kind = 'started') AS gpus,
        argMaxIf(user, time, kind IN ('started', 'submitted')) AS user,
        argMaxIf(state, time, kind = 'ended') AS state,
        tupleElement(argMaxIf(tuple(exit_code), time, kind = 'ended'), 1) AS exit_code,
        tupleElement(argMaxIf(tuple(signal), time, kind = 'ended'), 1) AS signal
    FROM job_events
    WHERE scheduler NOT IN ('pipe', 'producer') OR job NOT IN (scheduled)
    GROUP BY job, attempt
    HAVING countIf(kind = 'started') > 0
) AS a
ASOF LEFT JOIN
(
    SELECT job, attempt, toNullable(min(time)) AS started
    FROM job_events
    WHERE kind = 'started' AND attempt > 0 AND (scheduler NOT IN ('pipe', 'producer') OR job NOT IN (scheduled))
    GROUP BY job, attempt
) AS n ON n.job = a.job AND n.attempt > a.attempt;
