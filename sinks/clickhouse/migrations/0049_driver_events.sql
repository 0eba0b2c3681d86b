-- What drivers state of an event: its name, its link, the action that its vendor recommends, and what the GPU needs to recover.

ALTER TABLE node_findings ADD COLUMN IF NOT EXISTS event LowCardinality(String) AFTER device;

ALTER TABLE node_findings ADD COLUMN IF NOT EXISTS link Nullable(Int64) AFTER event;

ALTER TABLE node_findings ADD COLUMN IF NOT EXISTS recommended_action LowCardinality(String) AFTER link;

ALTER TABLE node_findings ADD COLUMN IF NOT EXISTS recovery_action LowCardinality(String) AFTER recommended_action;

ALTER TABLE node_findings ADD COLUMN IF NOT EXISTS drain Bool AFTER recovery_action;

ALTER TABLE failures ADD COLUMN IF NOT EXISTS drain Nullable(Bool) AFTER node_evidence;

ALTER TABLE failures ADD COLUMN IF NOT EXISTS recovery_action LowCardinality(String) AFTER drain;

ALTER TABLE gpu_metrics ADD COLUMN IF NOT EXISTS recovery_action LowCardinality(String) AFTER xids;

-- Once more, so that it has the new columns too.
CREATE OR REPLACE VIEW verdicts AS
SELECT *
FROM (SELECT * FROM failures ORDER BY job, attempt, revision DESC, confidence DESC, id LIMIT 1 BY job, attempt)
WHERE error_type != 'none';
