-- title: Throughput of a job over time
-- about: What each rank reported, minute by minute, averaged; newest first.
-- param job String: the job's id
-- param hours UInt32 = 24: how far back from the job's newest minute
-- param limit UInt32 = 200: rows at most

SELECT
    minute, rank, attempt,
    round(throughput, 3) AS throughput, throughput_unit AS unit,
    round(step_time_s, 6) AS step_time_s,
    first_step, last_step, reports
FROM job_throughput
WHERE job = {job:String}
    AND minute >= toStartOfMinute(fromUnixTimestamp({since:Int64})) AND minute < fromUnixTimestamp({until:Int64})
    AND minute > (
        SELECT max(minute) FROM job_throughput_1m WHERE job = {job:String} AND minute < fromUnixTimestamp({until:Int64})
    ) - toIntervalHour({hours:UInt32})
ORDER BY minute DESC, attempt DESC, rank, unit
LIMIT {limit:UInt32}
