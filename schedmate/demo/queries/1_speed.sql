-- How fast did bar train, over time?
WITH (SELECT min(time) FROM job_metrics WHERE job = 'bar') AS start,
    (SELECT max(step_time_s) * 1000 FROM job_metrics WHERE job = 'bar') AS slowest
SELECT
    intDiv(dateDiff('millisecond', start, time), 1500) * 1.5 AS second,
    round(avg(step_time_s) * 1000, 1) AS step_ms,
    bar(step_ms, 0, slowest, 40) AS step_time
FROM job_metrics WHERE job = 'bar'
GROUP BY second ORDER BY second
