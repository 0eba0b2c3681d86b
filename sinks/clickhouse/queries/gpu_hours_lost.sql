-- title: GPU hours lost to each cause
-- about: GPUs times hours of every attempt that ended with a verdict, by cause. Work saved in checkpoints is not subtracted.
-- param weeks UInt32 = 8: attempts that ended within so many weeks
-- param limit UInt32 = 50: rows at most

SELECT
    error_type, faulty_component, signature,
    round(sum(gpus * dateDiff('millisecond', started, assumeNotNull(ended))) / 3600000, 3) AS gpu_hours,
    count() AS attempts,
    uniqExact(job) AS jobs,
    countIf(isNull(gpus)) AS attempts_of_unknown_gpus
FROM attempts
INNER JOIN verdicts USING (job, attempt, incarnation)
WHERE ended IS NOT NULL AND ended > now() - toIntervalWeek({weeks:UInt32})
GROUP BY error_type, faulty_component, signature
ORDER BY gpu_hours DESC, attempts DESC, error_type, signature
LIMIT {limit:UInt32}
