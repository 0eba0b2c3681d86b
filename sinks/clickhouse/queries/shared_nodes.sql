-- title: Nodes behind several failures
-- about: Nodes on which several jobs failed for infrastructure, or for no reason that their own logs give; the worst first.
-- param days UInt32 = 7: how many days back
-- param jobs UInt32 = 2: at least so many different jobs
-- param limit UInt32 = 50: rows at most

SELECT
    node,
    uniqExact(job) AS failed_jobs,
    count() AS failures,
    countIf(error_type = 'infrastructure') AS infrastructure,
    countIf(error_type = 'unknown') AS unexplained,
    arraySort(groupUniqArray(signature)) AS causes,
    min(time) AS first_failure,
    max(time) AS last_failure,
    arraySort(groupUniqArray(20)(job)) AS some_jobs
FROM node_failures
WHERE time > now() - toIntervalDay({days:UInt32})
GROUP BY node
HAVING failed_jobs >= {jobs:UInt32}
ORDER BY failed_jobs DESC, failures DESC, node
LIMIT {limit:UInt32}
