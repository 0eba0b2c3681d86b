-- What a verdict rests on, and which evidence of nodes confirms or contradicts it, each in a column of its own.

ALTER TABLE failures
    ADD COLUMN IF NOT EXISTS confirmed_by Array(LowCardinality(String)) COMMENT 'evidence of nodes: node-logs, gpu-metrics' AFTER source,
    ADD COLUMN IF NOT EXISTS contradicted_by Array(LowCardinality(String)) COMMENT 'the same' AFTER confirmed_by;

-- Rows from before: `signature+node-logs` was confirmed, `traceback-gpu-metrics` contradicted, and nothing stood for `none`.
ALTER TABLE failures
    UPDATE
        confirmed_by = if(position(source, '+') > 0, [extract(source, '[+](.*)$')], []),
        contradicted_by = if(position(source, '+') > 0, [], [extract(source, '^[a-z]+-(.*)$')]),
        source = extract(source, '^[a-z]+')
    WHERE match(source, '^[a-z]+[+-](node-logs|gpu-metrics)$')
    SETTINGS mutations_sync = 1;

ALTER TABLE failures UPDATE source = 'none' WHERE source = '' SETTINGS mutations_sync = 1;

-- Once more, so that it has the new columns too.
CREATE OR REPLACE VIEW verdicts AS
SELECT *
FROM (SELECT * FROM failures ORDER BY job, attempt, revision DESC, confidence DESC, id LIMIT 1 BY job, attempt)
WHERE error_type != 'none';

-- A verdict that node evidence confirmed since has changed as little as one that is said with more confidence.
CREATE OR REPLACE VIEW revised_verdicts AS
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
    argMax(confirmed_by, revision) AS last_confirmed_by,
    argMax(contradicted_by, revision) AS last_contradicted_by,
    argMax(message, revision) AS last_message,
    max(time) AS last_time
FROM failures
GROUP BY job, attempt
HAVING first_error_type != last_error_type OR first_signature != last_signature;
