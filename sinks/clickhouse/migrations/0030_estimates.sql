-- Estimates while a job runs: what remains, from its progress; and how right they were.

ALTER TABLE job_metrics
    ADD COLUMN IF NOT EXISTS step_name LowCardinality(String) COMMENT 'name of the counter, as printed' AFTER step,
    ADD COLUMN IF NOT EXISTS step_total Nullable(Int64) CODEC(Delta, ZSTD(1)) AFTER step_name,
    ADD COLUMN IF NOT EXISTS epoch_total Nullable(Int64) CODEC(Delta, ZSTD(1)) AFTER epoch,
    ADD COLUMN IF NOT EXISTS left_s Nullable(Float32) CODEC(ZSTD(1)) COMMENT 'seconds that remain, as the log expects' AFTER epoch_total;

ALTER TABLE estimates
    ADD COLUMN IF NOT EXISTS attempt Int64 AFTER job,
    ADD COLUMN IF NOT EXISTS revision Int64 AFTER attempt,
    ADD COLUMN IF NOT EXISTS remaining_s Nullable(Float64) AFTER duration_high_s,
    ADD COLUMN IF NOT EXISTS remaining_low_s Nullable(Float64) AFTER remaining_s,
    ADD COLUMN IF NOT EXISTS remaining_high_s Nullable(Float64) AFTER remaining_low_s,
    ADD COLUMN IF NOT EXISTS done Nullable(Float64) AFTER remaining_high_s,
    ADD COLUMN IF NOT EXISTS evidence String CODEC(ZSTD(3)) COMMENT 'JSON array of records.Evidence' AFTER method;

-- The estimate in force on each attempt: the highest revision. One that was taken back holds no number.
CREATE VIEW IF NOT EXISTS newest_estimates AS
SELECT * FROM estimates ORDER BY job, attempt, revision DESC, id LIMIT 1 BY job, attempt;

-- Each estimate of a duration against what came, where the attempt has ended: `error` is relative to what was to come when it was made.
CREATE VIEW IF NOT EXISTS estimate_scores AS
SELECT
    e.job AS job,
    e.attempt AS attempt,
    e.revision AS revision,
    e.time AS time,
    e.method AS method,
    e.done AS done,
    a.user AS user,
    a.gpus AS gpus,
    a.state AS state,
    ifNull(a.signal, 0) = 0 AND ifNull(a.exit_code, if(a.state = 'COMPLETED', 0, 1)) = 0 AS ended_well,
    e.duration_s AS duration_s,
    e.duration_low_s AS duration_low_s,
    e.duration_high_s AS duration_high_s,
    dateDiff('millisecond', a.started, assumeNotNull(a.ended)) / 1000 AS took_s,
    abs(took_s - assumeNotNull(e.duration_s)) / greatest(took_s - if(e.revision = 0, 0, dateDiff('millisecond', a.started, e.time) / 1000), 1) AS error,
    took_s >= ifNull(e.duration_low_s, 0) AND took_s <= ifNull(e.duration_high_s, inf) AS inside,
    isNotNull(e.duration_low_s) AND isNotNull(e.duration_high_s) AS has_interval
FROM (SELECT * FROM estimates WHERE isNotNull(duration_s) ORDER BY job, id LIMIT 1 BY job, id) AS e
INNER JOIN (SELECT * FROM attempts WHERE isNotNull(ended)) AS a ON a.job = e.job AND a.attempt = e.attempt;
