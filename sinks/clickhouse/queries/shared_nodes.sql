-- title: Nodes behind several failures
-- about: Nodes on which several jobs failed for infrastructure, or for no reason that their own logs give, with the findings in their logs and GPU metrics; the worst first.
-- param days UInt32 = 7: how many days back
-- param jobs UInt32 = 2: at least so many different jobs
-- param limit UInt32 = 50: rows at most

WITH failed AS
(
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
),
findings AS
(
    SELECT
        toString(node) AS node,
        countIf(severity = 'fatal') AS fatal_findings,
        arraySort(groupUniqArray(signature)) AS node_says,
        max(time) AS last_finding
    FROM node_troubles
    WHERE time > now() - toIntervalDay({days:UInt32})
    GROUP BY node
)
SELECT
    failed.node AS node, failed_jobs, failures, infrastructure, unexplained, causes, first_failure, last_failure, some_jobs,
    fatal_findings, node_says, if(fatal_findings = 0 AND empty(node_says), NULL, last_finding) AS last_finding
FROM failed
LEFT JOIN findings ON findings.node = failed.node
ORDER BY failed_jobs DESC, failures DESC, fatal_findings DESC, node
LIMIT {limit:UInt32}
