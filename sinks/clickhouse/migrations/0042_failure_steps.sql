-- How far the training had come when a verdict was said; null in rows of before.

ALTER TABLE failures ADD COLUMN IF NOT EXISTS step Nullable(Int64) AFTER signal;
ALTER TABLE failures ADD COLUMN IF NOT EXISTS epoch Nullable(Float64) AFTER step;

-- Once more, so that it has the new columns too.
CREATE OR REPLACE VIEW verdicts AS
SELECT *
FROM (SELECT * FROM failures ORDER BY job, attempt, revision DESC, confidence DESC, id LIMIT 1 BY job, attempt)
WHERE error_type != 'none';
