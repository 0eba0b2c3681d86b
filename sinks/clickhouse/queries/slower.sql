-- title: Jobs slower now than in their own past
-- about: Seconds per step in each job's newest minutes against the median of its earlier minutes in the same attempt.
-- param minutes UInt32 = 10: the newest minutes of a job that count as now
-- param hours UInt32 = 24: only jobs that reported within so many hours
-- param ratio Float64 = 0.8: report where the speed is below this share of the past
-- param limit UInt32 = 50: rows at most

-- Most jobs are ruled out before their minutes are worked out: no mean is below its least part, and none above its greatest.
WITH may_be_slower AS
(
    SELECT
        job, argMax(attempt, minute) AS newest, max(minute) AS last_minute,
        min(step_time_sum / step_time_reports) AS least, max(step_time_sum / step_time_reports) AS greatest, min(step_time_reports) AS fewest,
        groupArray(minute) AS minutes, groupArray(attempt) AS attempts, groupArray(step_time_sum) AS sums, groupArray(step_time_reports) AS reports
    FROM job_throughput_1m
    WHERE minute > now() - toIntervalHour({hours:UInt32}) - INTERVAL 7 DAY AND step_time_reports != 0
    GROUP BY job
    HAVING last_minute > now() - toIntervalHour({hours:UInt32})
        AND (
            least < {ratio:Float64} * greatest
            AND least < {ratio:Float64} * arrayMax(
                (at, s, n) -> if(at > last_minute - toIntervalMinute({minutes:UInt32}), s / n, 0), minutes, sums, reports
            )
            OR fewest < 0
        )
),
by_minute AS
(
    SELECT job, any(newest) AS attempt, minute, any(last_minute) AS last, sum(step_sum) / sum(step_reports) AS step_s
    FROM may_be_slower ARRAY JOIN minutes AS minute, attempts AS its_attempt, sums AS step_sum, reports AS step_reports
    WHERE its_attempt = newest
    GROUP BY job, minute
    HAVING sum(step_reports) > 0
)
SELECT
    job, attempt,
    round(medianIf(step_s, minute <= last - toIntervalMinute({minutes:UInt32})), 6) AS past_step_time_s,
    round(avgIf(step_s, minute > last - toIntervalMinute({minutes:UInt32})), 6) AS now_step_time_s,
    round(past_step_time_s / now_step_time_s, 3) AS speed_ratio,
    countIf(minute <= last - toIntervalMinute({minutes:UInt32})) AS past_minutes,
    max(last) AS last_report
FROM by_minute
GROUP BY job, attempt
HAVING past_minutes > 0 AND speed_ratio < {ratio:Float64}
ORDER BY speed_ratio
LIMIT {limit:UInt32}
