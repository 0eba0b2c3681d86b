-- title: Failures by cause, node and week
-- about: How often each cause ended or endangered an attempt, where and when; the verdict in force on each attempt counts once.
-- param weeks UInt32 = 8: how many weeks back
-- param limit UInt32 = 100: rows at most

SELECT
    toMonday(time) AS week,
    error_type, faulty_component, signature, node,
    count() AS failures,
    uniqExact(job) AS jobs,
    argMax(message, time) AS latest_message
FROM verdicts
WHERE time > now() - toIntervalWeek({weeks:UInt32})
GROUP BY week, error_type, faulty_component, signature, node
ORDER BY week DESC, failures DESC, error_type, signature, node
LIMIT {limit:UInt32}
