-- title: What past jobs trained, for how long, and how hard on their GPUs
-- about: Ended attempts, newest first: what was submitted, what it trains according to its source, how long it took, how it ended, its mean seconds per step and the mean use of the GPUs that it ran on, jobs packed with it included.
-- param user String = : one user; empty for all
-- param job String = : one job; empty for all
-- param days UInt32 = 7: attempts that ended within so many days
-- param limit UInt32 = 100: rows at most

-- Constants: a subquery by name is run again wherever it is named. Which attempts ended last is asked of few columns; the others are
-- then read of those attempts alone.
WITH
(
    SELECT groupArray((job, attempt))
    FROM
    (
        SELECT job, attempt
        FROM attempts
        WHERE ended > now() - toIntervalDay({days:UInt32})
            AND ({user:String} = '' OR user = {user:String})
            AND ({job:String} = '' OR job = {job:String})
        ORDER BY ended DESC, job
        LIMIT {limit:UInt32}
    )
) AS newest,
(
    SELECT groupArray((job, attempt, user, gpus, started, assumeNotNull(ended), state, exit_code, signal))
    FROM attempts
    WHERE job IN (SELECT arrayJoin(newest.1)) AND (job, attempt) IN (SELECT n.1, n.2 FROM (SELECT arrayJoin(newest) AS n))
) AS found,
past AS
(
    SELECT
        f.1 AS job, f.2 AS attempt, f.3 AS user, f.4 AS gpus, f.5 AS started, f.6 AS ended, f.7 AS state, f.8 AS exit_code, f.9 AS signal
    FROM (SELECT arrayJoin(found) AS f)
),
submissions AS
(
    SELECT
        job,
        argMaxIf(name, time, kind = 'submitted') AS name,
        argMaxIf(directory, time, kind = 'submitted') AS directory,
        argMaxIf(command, time, kind = 'submitted') AS command,
        argMaxIf(branch, time, kind = 'submitted') AS branch,
        argMaxIf(workload, time, workload != '') AS workload
    FROM job_events
    WHERE kind IN ('submitted', 'described') AND job IN (SELECT arrayJoin(found.1))
    GROUP BY job
),
steps AS
(
    SELECT
        job, attempt,
        toNullable(round(sum(step_time_sum) / sum(step_time_reports), 6)) AS step_time_s,
        max(last_step) AS step
    FROM job_throughput_1m
    WHERE job IN (SELECT arrayJoin(found.1))
    GROUP BY job, attempt
    HAVING sum(step_time_reports) > 0
),
use AS
(
    SELECT p.job AS job, p.attempt AS attempt, toNullable(round(avg(s.utilisation), 1)) AS gpu_utilisation
    FROM
    (
        SELECT arrayJoin(jobs) AS job, time, utilisation
        FROM gpu_metrics
        WHERE utilisation IS NOT NULL
            AND time > arrayMin(found.5)
            AND hasAny(jobs, found.1)
    ) AS s
    INNER JOIN past AS p ON p.job = s.job
    WHERE s.time BETWEEN p.started AND p.ended
    GROUP BY job, attempt
)

SELECT
    p.job AS job,
    p.attempt AS attempt,
    p.user AS user,
    s.name AS name,
    s.directory AS directory,
    s.branch AS branch,
    s.command AS command,
    s.workload AS workload,
    p.gpus AS gpus,
    p.started AS started,
    dateDiff('millisecond', p.started, p.ended) / 1000 AS duration_s,
    p.state AS state,
    p.exit_code AS exit_code,
    p.signal AS signal,
    t.step AS last_step,
    t.step_time_s AS step_time_s,
    u.gpu_utilisation AS gpu_utilisation
FROM past AS p
LEFT JOIN submissions AS s ON s.job = p.job
LEFT JOIN steps AS t ON t.job = p.job AND t.attempt = p.attempt
LEFT JOIN use AS u ON u.job = p.job AND u.attempt = p.attempt
ORDER BY p.ended DESC, p.job
