-- title: Dead letters by reason
-- about: What could not be read or processed, by topic and reason, with the place of the newest one.
-- param days UInt32 = 30: how many days back
-- param limit UInt32 = 50: rows at most

SELECT
    topic, stage, left(reason, 200) AS reason,
    count() AS messages,
    sum(greatest(size, length(value))) AS bytes,
    max(time) AS newest,
    argMax((partition, offset), time) AS newest_place
FROM dead_letters
WHERE stored > now() - toIntervalDay({days:UInt32})
GROUP BY topic, stage, reason
ORDER BY messages DESC, newest DESC
LIMIT {limit:UInt32}
