-- What speaks against a node, whose share of the hourly limits an action takes, and decisions that wait for a limit.

ALTER TABLE failures ADD COLUMN IF NOT EXISTS node_evidence Bool AFTER node;

-- Once more, so that it has the new column too.
CREATE OR REPLACE VIEW verdicts AS
SELECT *
FROM (SELECT * FROM failures ORDER BY job, attempt, revision DESC, confidence DESC, id LIMIT 1 BY job, attempt)
WHERE error_type != 'none';

ALTER TABLE decisions ADD COLUMN IF NOT EXISTS node_evidence Bool AFTER exclude_nodes;

ALTER TABLE decision_results ADD COLUMN IF NOT EXISTS user LowCardinality(String) AFTER node;

-- What became of each decision: its last final result, else its last one.
CREATE OR REPLACE VIEW decision_outcomes AS
SELECT
    decision_id,
    argMax(outcome, (outcome NOT IN ('started', 'deferred'), time)) AS last_outcome,
    argMax(detail, (outcome NOT IN ('started', 'deferred'), time)) AS last_detail,
    argMax(actuator, (outcome NOT IN ('started', 'deferred'), time)) AS last_actuator,
    argMax(seen, (outcome NOT IN ('started', 'deferred'), time)) AS last_seen,
    max(time) AS last_time
FROM decision_results
GROUP BY decision_id;
