-- title: Goodput: how much of the allocated GPU time trained
-- about: GPU hours of attempts that started in a month (or within so many days), and what was lost to failures (work since the last durable checkpoint), to starting, hangs and checkpoints; goodput is the rest divided by all. Attempts without failure and without reports are unknown and left out of it. MTTF is job hours for each infrastructure failure.
-- param by String = month: job, user, cause, size (GPUs) or month
-- param month String = : such as 2026-11; empty for the last days
-- param days UInt32 = 30: how many days back, without a month
-- param limit UInt32 = 50: rows at most

WITH
runs AS
(
    SELECT job, attempt, incarnation, user, started, ifNull(a.ended, now64(6)) AS until, isNotNull(a.ended) AS over, nullIf(a.gpus, 0) AS gpus
    FROM attempts AS a
    WHERE if({month:String} = '', started > now() - toIntervalDay({days:UInt32}), formatDateTime(started, '%Y-%m') = {month:String})
),
reports AS
(
    -- Minutes of a rank; those of another job of this id are outside of the attempt.
    SELECT r.job AS job, r.attempt AS attempt, r.incarnation AS incarnation, toNullable(min(t.minute)) AS first
    FROM runs AS r INNER JOIN job_throughput_1m AS t ON t.job = r.job AND t.attempt = r.attempt
    WHERE t.minute >= toStartOfMinute(r.started) AND t.minute <= r.until
    GROUP BY job, attempt, incarnation
),
saves AS
(
    SELECT
        job, attempt, incarnation,
        maxOrNullIf(c.since, c.state = 'durable') AS last_saved,
        sumIf(c.duration_s, NOT c.asynchronous AND c.state = 'durable') AS saving_s
    FROM checkpoints AS c
    WHERE c.rank = 0 OR c.state = 'durable'
    GROUP BY job, attempt, incarnation
),
hangs AS
(
    SELECT
        r.job AS job, r.attempt AS attempt, r.incarnation AS incarnation,
        sum(greatest(0, dateDiff('millisecond', h.since, least(ifNull(h.over, r.until), r.until)) / 1000)) AS hung_s,
        sumIf(greatest(0, dateDiff('millisecond', h.since, least(ifNull(h.over, r.until), r.until)) / 1000),
            h.since >= ifNull(s.last_saved, toDateTime64(0, 6, 'UTC'))) AS hung_unsaved_s
    FROM runs AS r
    INNER JOIN (SELECT * FROM alarm_spans WHERE kind = 'hang') AS h
        ON h.job = r.job AND h.attempt = r.attempt AND h.incarnation = r.incarnation
    LEFT JOIN saves AS s ON s.job = r.job AND s.attempt = r.attempt AND s.incarnation = r.incarnation
    GROUP BY job, attempt, incarnation
),
waits AS
(
    SELECT r.job AS job, r.attempt AS attempt, r.incarnation AS incarnation,
        toNullable(dateDiff('millisecond', w.time, r.started) / 1000) AS queued_s
    FROM runs AS r
    ASOF INNER JOIN (SELECT job, incarnation, time FROM scheduler_events WHERE kind IN ('submitted', 'requeued')) AS w
        ON w.job = r.job AND w.incarnation = r.incarnation AND r.started >= w.time
),
parts AS
(
    SELECT
        r.job AS job,
        toString(r.user) AS user,
        toString(v.signature) AS cause,
        formatDateTime(r.started, '%Y-%m') AS month,
        assumeNotNull(r.gpus) AS gpus,
        greatest(dateDiff('millisecond', r.started, r.until) / 1000, 0) AS ran_s,
        notEmpty(v.id) AND r.over AS failed,
        notEmpty(v.id) AND r.over AND v.error_type = 'infrastructure' AS infrastructure,
        isNotNull(p.first) OR failed AS known,
        least(if(isNull(p.first), 0, greatest(dateDiff('millisecond', r.started, toDateTime64(p.first, 6, 'UTC')) / 1000, 0)), ran_s) AS starting_s,
        least(ifNull(h.hung_s, 0), ran_s - starting_s) AS hanging_s,
        if(failed,
            greatest(least(dateDiff('millisecond', ifNull(s.last_saved, addMilliseconds(r.started, toInt64(starting_s * 1000))), r.until) / 1000
                - ifNull(h.hung_unsaved_s, 0), ran_s - starting_s - hanging_s), 0),
            0) AS lost_s,
        least(ifNull(s.saving_s, 0), ran_s - starting_s - hanging_s - lost_s) AS saving_s,
        ran_s - starting_s - hanging_s - lost_s - saving_s AS trained_s,
        w.queued_s AS queued_s
    FROM runs AS r
    LEFT JOIN reports AS p ON p.job = r.job AND p.attempt = r.attempt AND p.incarnation = r.incarnation
    LEFT JOIN saves AS s ON s.job = r.job AND s.attempt = r.attempt AND s.incarnation = r.incarnation
    LEFT JOIN hangs AS h ON h.job = r.job AND h.attempt = r.attempt AND h.incarnation = r.incarnation
    LEFT JOIN waits AS w ON w.job = r.job AND w.attempt = r.attempt AND w.incarnation = r.incarnation
    LEFT JOIN verdicts AS v ON v.job = r.job AND v.attempt = r.attempt AND v.incarnation = r.incarnation
    WHERE r.gpus > 0
)

SELECT
    multiIf(
        {by:String} = 'job', job,
        {by:String} = 'user', user,
        {by:String} = 'cause', if(failed, if(cause = '', 'unknown cause', cause), 'no failure'),
        {by:String} = 'size', multiIf(gpus <= 1, '1', gpus <= 8, '2 to 8', gpus <= 64, '9 to 64', gpus <= 512, '65 to 512', 'more than 512'),
        month) AS group,
    uniqExact(job) AS jobs,
    countIf(failed) AS failures,
    round(sum(ran_s * gpus) / 3600, 3) AS gpu_hours,
    round(sumIf(trained_s * gpus, known) / nullIf(sumIf(ran_s * gpus, known), 0), 4) AS goodput,
    round(sumIf(lost_s * gpus, known) / 3600, 3) AS failures_gpu_hours,
    round(sumIf(starting_s * gpus, known) / 3600, 3) AS starting_gpu_hours,
    round(sumIf(hanging_s * gpus, known) / 3600, 3) AS hangs_gpu_hours,
    round(sumIf(saving_s * gpus, known) / 3600, 3) AS checkpoints_gpu_hours,
    round(sumIf(ran_s * gpus, NOT known) / 3600, 3) AS unknown_gpu_hours,
    round(sumOrNull(queued_s) / 3600, 3) AS queued_hours,
    round(sum(ran_s) / 3600 / nullIf(countIf(infrastructure), 0), 2) AS mttf_hours
FROM parts
GROUP BY group
ORDER BY if({by:String} IN ('month', 'size'), min(if({by:String} = 'size', gpus, toFloat64(toUnixTimestamp(parseDateTimeBestEffort(concat(month, '-01')))))), 0), gpu_hours DESC, group
LIMIT {limit:UInt32}
