-- What was decided, what became of it, and how soon after its cause?
SELECT action, job, mode, last_outcome AS outcome, exclude_nodes AS away_from,
    round(dateDiff('millisecond', time, last_time) / 1000, 2) AS seconds
FROM decisions INNER JOIN decision_outcomes ON decision_id = id
ORDER BY time
