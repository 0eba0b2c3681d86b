-- title: Jobs slower now than in their own past
-- about: Seconds per step in each job's newest minutes against the median of its earlier minutes in the same attempt.
-- param minutes UInt32 = 10: the newest minutes of a job that count as now
-- param hours UInt32 = 24: only jobs heard of within so many hours
-- param ratio Float64 = 0.8: report where the speed is below this share of the past
-- param limit UInt32 = 50: rows at most

WITH by_minute AS
(
    SELECT job, attempt, minute, sum(step_time_sum) / sum(step_time_reports) AS step_s
    FROM job_throughput_1m
    WHERE minute > now() - toIntervalHour({hours:UInt32}) - INTERVAL 7 DAY
    GROUP BY job, attempt, minute
    HAVING sum(step_time_reports) > 0
),
newest AS
(
    SELECT job, argMax(attempt, minute) AS attempt, max(minute) AS last_minute
    FROM by_minute
    GROUP BY job
    HAVING last_minute > now() - toIntervalHour({hours:UInt32})
)
SELECT
    job, attempt,
    round(medianIf(step_s, minute <= last_minute - toIntervalMinute({minutes:UInt32})), 6) AS past_step_time_s,
    round(avgIf(step_s, minute > last_minute - toIntervalMinute({minutes:UInt32})), 6) AS now_step_time_s,
    round(past_step_time_s / now_step_time_s, 3) AS speed_ratio,
    countIf(minute <= last_minute - toIntervalMinute({minutes:UInt32})) AS past_minutes,
    max(last_minute) AS last_report
FROM by_minute
INNER JOIN newest USING (job, attempt)
GROUP BY job, attempt
HAVING past_minutes > 0 AND speed_ratio < {ratio:Float64}
ORDER BY speed_ratio
LIMIT {limit:UInt32}
