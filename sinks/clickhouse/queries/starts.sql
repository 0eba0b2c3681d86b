-- title: Accuracy of estimated starts
-- about: Share of starts inside of the estimated 90 % range, before and after it, and how late or early the middle was, by method and by how long the wait was to be. Each attempt counts once, however many estimates it had.
-- param job String = : one job; empty for all
-- param user String = : one user; empty for all
-- param partition String = : one partition; empty for all
-- param days UInt32 = 30: how many days back
-- param limit UInt32 = 100: rows at most

SELECT
    method,
    ['below 10 minutes', '10 minutes to an hour', '1 to 6 hours', '6 hours and above', 'not known'][band] AS expected_wait,
    sum(estimates) AS ranges,
    sum(has_started) AS starts,
    round(avg(inside), 3) AS inside_range,
    round(avg(before), 3) AS before_range,
    round(avg(after), 3) AS after_range,
    round(quantileExact(0.5)(mean_late_s), 1) AS median_late_s,
    round(quantileExact(0.5)(mean_off_s), 1) AS median_off_s,
    sum(is_overdue) AS still_waiting_beyond_range
FROM
(
    SELECT
        method,
        multiIf(isNull(expected_s), 5, expected_s < 600, 1, expected_s < 3600, 2, expected_s < 21600, 3, 4) AS band,
        job,
        attempt,
        count() AS estimates,
        max(isNotNull(started_s)) AS has_started,
        avgIf(NOT earlier AND NOT later, isNotNull(high_s)) AS inside,
        avgIf(earlier, isNotNull(high_s)) AS before,
        avgIf(later, isNotNull(high_s)) AS after,
        avg(late_s) AS mean_late_s,
        avg(abs(late_s)) AS mean_off_s,
        max(ifNull(overdue, 0)) AS is_overdue
    FROM start_scores
    WHERE NOT gone AND time > now() - toIntervalDay({days:UInt32})
        AND ({job:String} = '' OR job = {job:String}) AND ({user:String} = '' OR user = {user:String})
        AND ({partition:String} = '' OR partition = {partition:String})
    GROUP BY method, band, job, attempt
    HAVING has_started OR is_overdue
)
GROUP BY method, band
ORDER BY method, band
LIMIT {limit:UInt32}
