-- Which nodes stand behind several failures, and which verdicts changed.

-- One row a verdict in force that may be the node's doing: infrastructure, or nothing that the job itself explains.
-- A verdict that names no node counts for the node of an attempt that ran on one only.
CREATE VIEW IF NOT EXISTS node_failures AS
SELECT
    if(v.node != '', toString(v.node), if(length(a.nodes) = 1, toString(a.nodes[1]), '')) AS node,
    v.job AS job,
    v.attempt AS attempt,
    v.time AS time,
    v.error_type AS error_type,
    v.faulty_component AS faulty_component,
    v.signature AS signature,
    v.message AS message
FROM verdicts AS v
LEFT JOIN attempts AS a ON a.job = v.job AND a.attempt = v.attempt
WHERE v.error_type IN ('infrastructure', 'unknown') AND node != '';

-- One row an attempt whose verdict changed: what was said first, what is in force, and who said so. Only the conclusion counts: the same
-- cause said again with more confidence is no change. `none` in force: the verdict was taken back.
CREATE VIEW IF NOT EXISTS revised_verdicts AS
SELECT
    job,
    attempt,
    uniqExact(revision) AS revisions,
    argMin(error_type, revision) AS first_error_type,
    argMin(signature, revision) AS first_signature,
    argMin(source, revision) AS first_source,
    argMax(error_type, revision) AS last_error_type,
    argMax(signature, revision) AS last_signature,
    argMax(source, revision) AS last_source,
    argMax(message, revision) AS last_message,
    max(time) AS last_time
FROM failures
GROUP BY job, attempt
HAVING first_error_type != last_error_type OR first_signature != last_signature;
