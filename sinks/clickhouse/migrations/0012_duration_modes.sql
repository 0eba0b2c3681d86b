-- Modes of the durations of similar jobs.

ALTER TABLE estimates ADD COLUMN IF NOT EXISTS modes String COMMENT 'JSON array of schedmate_records.DurationMode' CODEC(ZSTD(3)) AFTER duration_high_s;
