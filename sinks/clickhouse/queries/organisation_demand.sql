-- title: Forecasts of demand, by organisation
-- about: GPUs that each organisation's high-priority jobs held and waited for at most, the median forecast, and how often demand stayed below the quantile used.
-- param cluster String = : one cluster; empty for all
-- param days UInt32 = 7: how many days back
-- param limit UInt32 = 100: rows at most

SELECT
    cluster,
    organisation,
    count() AS intervals,
    round(max(peak), 1) AS peak,
    round(avg(in_use), 1) AS mean_in_use,
    round(avg(median), 1) AS mean_median,
    round(avg(upper), 1) AS mean_upper,
    round(avgIf(in_use + waiting <= upper, isNotNull(upper)), 3) AS below_upper
FROM organisation_demand
WHERE time > now() - toIntervalDay({days:UInt32}) AND ({cluster:String} = '' OR cluster = {cluster:String})
GROUP BY cluster, organisation
ORDER BY peak DESC, organisation
LIMIT {limit:UInt32}
