-- title: GPU hours held and idle
-- about: Use of the GPUs that jobs hold, in GPU hours, by user and job; most idle first. GPUs on which a job never had a process count up to the number that its scheduler reports.
-- param user String = : one user; empty for all
-- param days UInt32 = 7: jobs with a record within so many days
-- param limit UInt32 = 100: rows at most

WITH on_nodes AS
(
    SELECT
        job, attempt, node,
        max(g.working_s) AS working_s,
        max(g.waiting_s) AS waiting_s,
        max(g.idle_s) AS idle_s,
        max(g.vacant_s) AS vacant_s,
        max(g.unknown_s) AS unknown_s,
        max(g.time) AS newest
    FROM gpu_activity AS g
    GROUP BY job, attempt, node
    HAVING newest > now() - toIntervalDay({days:UInt32})
),
of_attempts AS
(
    SELECT
        job, attempt,
        sum(n.working_s) AS working_s,
        sum(n.waiting_s) AS waiting_s,
        sum(n.idle_s) AS idle_s,
        sum(n.vacant_s) AS vacant_s,
        sum(n.unknown_s) AS unknown_s,
        max(n.newest) AS newest
    FROM on_nodes AS n
    GROUP BY job, attempt
),
of_jobs AS
(
    SELECT
        max(a.user) AS user,
        o.job AS job,
        sum(o.working_s) / 3600 AS working,
        sum(o.waiting_s) / 3600 AS waiting,
        sum(
            o.idle_s
            + if(
                a.gpus > 0,
                least(
                    o.vacant_s,
                    greatest(
                        a.gpus * dateDiff('second', a.started, coalesce(a.ended, toDateTime64(o.newest, 6, 'UTC')))
                        - (o.working_s + o.waiting_s + o.idle_s + o.unknown_s),
                        0
                    )
                ),
                0
            )
        ) / 3600 AS idle,
        sum(o.unknown_s) / 3600 AS unknown
    FROM of_attempts AS o
    LEFT JOIN attempts AS a ON a.job = o.job AND a.attempt = o.attempt
    GROUP BY o.job
)

SELECT
    user,
    job,
    round(idle, 2) AS idle_gpu_hours,
    round(waiting, 2) AS waiting_gpu_hours,
    round(working, 2) AS working_gpu_hours,
    round(unknown, 2) AS unknown_gpu_hours,
    round(sum(idle) OVER (PARTITION BY user), 2) AS idle_gpu_hours_of_user
FROM of_jobs
WHERE {user:String} = '' OR user = {user:String}
ORDER BY idle_gpu_hours_of_user DESC, user, idle_gpu_hours DESC, job
LIMIT {limit:UInt32}
