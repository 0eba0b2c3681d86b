-- What a language model states about a failed attempt: its sentence for the operator, and both opinions behind a verdict.

ALTER TABLE failures ADD COLUMN IF NOT EXISTS summary String CODEC(ZSTD(3)) AFTER message;
ALTER TABLE failures ADD COLUMN IF NOT EXISTS opinions String CODEC(ZSTD(3)) AFTER evidence;

ALTER TABLE model_answers ADD COLUMN IF NOT EXISTS failed Nullable(Bool) AFTER prompt;
ALTER TABLE model_answers ADD COLUMN IF NOT EXISTS summary String CODEC(ZSTD(3)) AFTER root_line;

ALTER TABLE model_answers ADD COLUMN IF NOT EXISTS trusted Bool DEFAULT true AFTER lines;

-- Once more, so that it has the new columns too.
CREATE OR REPLACE VIEW verdicts AS
SELECT *
FROM
(
    SELECT * FROM failures
    ORDER BY job, attempt, incarnation, revision DESC, confidence DESC, id
    LIMIT 1 BY job, attempt, incarnation
)
WHERE error_type != 'none';
