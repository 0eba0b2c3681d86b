-- As before, in half the processor time over 100,000 jobs. What speaks first is one number instead of a tuple: 2 to the 62nd sets the
-- pipe's word behind a scheduler's, whichever the time. Only attempts after a job's first can end one before: few, so they are joined,
-- where a window sorted all attempts of all jobs.

CREATE OR REPLACE VIEW attempts AS
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
    WITH
        toUnixTimestamp64Micro(time) + if(scheduler = 'pipe', 4611686018427387904, 0) AS first_word,
        toUnixTimestamp64Micro(time) + if(scheduler = 'pipe', 0, 4611686018427387904) AS last_word
    SELECT
        job,
        attempt,
        argMinIf(time, first_word, kind = 'started') AS started,
        argMaxOrNullIf(time, last_word, kind IN ('ended', 'requeued')) AS last_end,
        argMaxIf(nodes, last_word, kind = 'started') AS nodes,
        argMaxIf(ifNull(gpus, 0), last_word, kind = 'started') AS gpus,
        argMaxIf(user, last_word, kind IN ('started', 'submitted')) AS user,
        argMaxIf(state, last_word, kind = 'ended') AS state,
        tupleElement(argMaxIf(tuple(exit_code), last_word, kind = 'ended'), 1) AS exit_code,
        tupleElement(argMaxIf(tuple(signal), last_word, kind = 'ended'), 1) AS signal
    FROM job_events
    GROUP BY job, attempt
    HAVING countIf(kind = 'started') > 0
) AS a
ASOF LEFT JOIN
(
    SELECT
        job, attempt,
        toNullable(argMin(time, toUnixTimestamp64Micro(time) + if(scheduler = 'pipe', 4611686018427387904, 0))) AS started
    FROM job_events
    WHERE kind = 'started' AND attempt > 0
    GROUP BY job, attempt
) AS n ON n.job = a.job AND n.attempt > a.attempt;
