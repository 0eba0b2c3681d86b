-- What goes wrong with running jobs, and step times over the ranks of a job.

CREATE TABLE IF NOT EXISTS alarms
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    node          LowCardinality(String),
    rank          Nullable(Int64),
    kind          LowCardinality(String),
    raised        Bool,
    time          DateTime64(6, 'UTC'),
    since         DateTime64(6, 'UTC'),
    value         Nullable(Float64),
    usual         Nullable(Float64),
    limit         Nullable(Float64),
    detail        String CODEC(ZSTD(3)),
    evidence      String CODEC(ZSTD(3)) COMMENT 'JSON array of records.Evidence',
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, attempt, kind, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an alarm: when it began, when it was over (null while it stands).
CREATE VIEW IF NOT EXISTS alarm_spans AS
SELECT
    job,
    attempt,
    kind,
    since,
    anyIf(a.time, a.raised) AS said,
    if(countIf(NOT a.raised) = 0, NULL, maxIf(a.time, NOT a.raised)) AS over,
    anyIf(a.node, a.raised) AS node,
    anyIf(a.rank, a.raised) AS rank,
    anyIf(a.value, a.raised) AS value,
    anyIf(a.usual, a.raised) AS usual,
    anyIf(a.detail, a.raised) AS detail
FROM alarms AS a
GROUP BY job, attempt, kind, since
HAVING countIf(a.raised) > 0;

ALTER TABLE job_metrics
    ADD COLUMN IF NOT EXISTS loss_not_finite Bool DEFAULT false AFTER loss,
    ADD COLUMN IF NOT EXISTS ranks Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER since_step,
    ADD COLUMN IF NOT EXISTS job_step_time_s Nullable(Float32) CODEC(ZSTD(1)) AFTER ranks,
    ADD COLUMN IF NOT EXISTS rank_spread Nullable(Float32) CODEC(ZSTD(1)) AFTER job_step_time_s,
    ADD COLUMN IF NOT EXISTS slowest_rank Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER rank_spread,
    ADD COLUMN IF NOT EXISTS rank_lag Nullable(Float32) CODEC(ZSTD(1)) AFTER slowest_rank;
