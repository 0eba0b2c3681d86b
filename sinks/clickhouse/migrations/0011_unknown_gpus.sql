-- `gpus` is NULL where no scheduler reports it, and no longer 0: a job without GPUs is another case.

-- One row for each attempt of each incarnation: when it ran, where, on how many GPUs, and how it ended. `ended` is NULL while it runs.
-- An attempt whose end nobody reported ended, at the latest, when the next one of its incarnation started.
CREATE OR REPLACE VIEW attempts AS
SELECT
    a.job AS job,
    a.attempt AS attempt,
    a.incarnation AS incarnation,
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
        incarnation,
        minIf(time, kind = 'started') AS started,
        maxOrNullIf(time, kind IN ('ended', 'requeued')) AS last_end,
        argMaxIf(nodes, time, kind = 'started') AS nodes,
        tupleElement(argMaxIf(tuple(gpus), time, kind = 'started'), 1) AS gpus,
        argMaxIf(user, time, kind IN ('started', 'submitted')) AS user,
        argMaxIf(state, time, kind = 'ended') AS state,
        tupleElement(argMaxIf(tuple(exit_code), time, kind = 'ended'), 1) AS exit_code,
        tupleElement(argMaxIf(tuple(signal), time, kind = 'ended'), 1) AS signal
    FROM scheduler_events
    GROUP BY job, attempt, incarnation
    HAVING countIf(kind = 'started') > 0
) AS a
ASOF LEFT JOIN
(
    SELECT job, incarnation, attempt, toNullable(min(time)) AS started
    FROM scheduler_events
    WHERE kind = 'started' AND attempt > 0
    GROUP BY job, incarnation, attempt
) AS n ON n.job = a.job AND n.incarnation = a.incarnation AND n.attempt > a.attempt;
