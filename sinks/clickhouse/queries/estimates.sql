-- title: Accuracy of estimates
-- about: Relative error of estimates and the share of ends inside of their intervals (90 % is meant), by method, user and partition. Before a job runs, its last estimate counts; while it runs, each, by how much of it was done.
-- param job String = : one job; empty for all
-- param user String = : one user; empty for all
-- param partition String = : one partition; empty for all
-- param days UInt32 = 30: how many days back
-- param limit UInt32 = 100: rows at most

SELECT
    method,
    multiIf(isNull(done), 'not known', done < 0.25, 'below 25%', done < 0.5, '25% to 50%', done < 0.75, '50% to 75%', '75% and above') AS was_done,
    user,
    partition,
    count() AS estimates,
    uniqExact(job) AS jobs,
    round(quantileExact(0.5)(error), 3) AS median_error,
    round(avg(error < 1), 3) AS below_100_percent,
    if(countIf(has_interval) > 0, round(countIf(has_interval AND inside) / countIf(has_interval), 3), NULL) AS inside_interval
FROM estimate_scores
WHERE ended_well AND time > now() - toIntervalDay({days:UInt32})
    AND ({job:String} = '' OR job = {job:String}) AND ({user:String} = '' OR user = {user:String})
    AND ({partition:String} = '' OR partition = {partition:String})
GROUP BY method, was_done, user, partition
ORDER BY method, was_done, user, partition
LIMIT {limit:UInt32}
