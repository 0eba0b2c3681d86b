-- Progress of jobs: what each rank reports, and its sums by minute.

CREATE TABLE IF NOT EXISTS job_metrics
(
    id            String CODEC(ZSTD(3)),
    job           String CODEC(ZSTD(1)),
    attempt       Int64 CODEC(T64, ZSTD(1)),
    incarnation   String CODEC(ZSTD(1)),
    node          LowCardinality(String),
    rank          Int64 CODEC(T64, ZSTD(1)),
    time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    step          Nullable(Int64) CODEC(Delta, ZSTD(1)),
    step_name     LowCardinality(String) COMMENT 'name of the counter, as printed',
    step_total    Nullable(Int64) CODEC(Delta, ZSTD(1)),
    epoch         Nullable(Float32) CODEC(ZSTD(1)),
    epoch_total   Nullable(Int64) CODEC(Delta, ZSTD(1)),
    left_s        Nullable(Float32) CODEC(ZSTD(1)) COMMENT 'seconds that remain, as the log expects',
    step_time_s   Nullable(Float32) CODEC(ZSTD(1)),
    throughput    Nullable(Float32) CODEC(ZSTD(1)),
    throughput_unit LowCardinality(Nullable(String)),
    loss          Nullable(Float32) CODEC(ZSTD(1)),
    loss_not_finite Bool DEFAULT false,
    loss_step     Nullable(Int64) COMMENT 'step at which the loss was printed' CODEC(T64, ZSTD(1)),
    confidence    Float32 CODEC(ZSTD(1)),
    method        LowCardinality(String),
    reports       Int64 CODEC(T64, ZSTD(1)),
    since         Nullable(DateTime64(6, 'UTC')) CODEC(Delta, ZSTD(1)),
    since_step    Nullable(Int64) CODEC(Delta, ZSTD(1)),
    ranks         Nullable(Int64) CODEC(T64, ZSTD(1)),
    job_step_time_s Nullable(Float32) CODEC(ZSTD(1)),
    rank_spread   Nullable(Float32) CODEC(ZSTD(1)),
    slowest_rank  Nullable(Int64) CODEC(T64, ZSTD(1)),
    rank_lag      Nullable(Float32) CODEC(ZSTD(1)),
    evidence      String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.Evidence',
    src_topic     LowCardinality(String),
    src_partition Int32 CODEC(T64, ZSTD(1)),
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
PRIMARY KEY (job, rank, time)
ORDER BY (job, rank, time, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS job_throughput_1m
(
    job            String CODEC(ZSTD(1)),
    rank           Int64 CODEC(T64, ZSTD(1)),
    minute         DateTime('UTC') CODEC(Delta, ZSTD(1)),
    attempt        Int64 CODEC(T64, ZSTD(1)),
    throughput_unit LowCardinality(String) COMMENT 'empty where no throughput is known',
    reports        SimpleAggregateFunction(sum, Int64),
    throughput_reports SimpleAggregateFunction(sum, Int64),
    throughput_sum SimpleAggregateFunction(sum, Float64),
    throughput_min SimpleAggregateFunction(min, Nullable(Float32)),
    throughput_max SimpleAggregateFunction(max, Nullable(Float32)),
    step_time_reports SimpleAggregateFunction(sum, Int64),
    step_time_sum  SimpleAggregateFunction(sum, Float64),
    first_step     SimpleAggregateFunction(min, Nullable(Int64)),
    last_step      SimpleAggregateFunction(max, Nullable(Int64)),
    stored         SimpleAggregateFunction(max, DateTime('UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (job, rank, minute, attempt, throughput_unit)
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS job_throughput_1m_fill TO job_throughput_1m AS
SELECT
    job,
    rank,
    toStartOfMinute(time) AS minute,
    attempt,
    ifNull(job_metrics.throughput_unit, '') AS throughput_unit,
    toInt64(count()) AS reports,
    toInt64(count(throughput)) AS throughput_reports,
    sum(toFloat64(ifNull(throughput, 0))) AS throughput_sum,
    min(throughput) AS throughput_min,
    max(throughput) AS throughput_max,
    toInt64(count(step_time_s)) AS step_time_reports,
    sum(toFloat64(ifNull(step_time_s, 0))) AS step_time_sum,
    min(step) AS first_step,
    max(step) AS last_step,
    max(job_metrics.stored) AS stored
FROM job_metrics
GROUP BY job, rank, minute, attempt, throughput_unit;

CREATE VIEW IF NOT EXISTS job_throughput AS
SELECT
    job,
    rank,
    minute,
    attempt,
    throughput_unit,
    sum(r.reports) AS reports,
    if(sum(r.throughput_reports) > 0, sum(r.throughput_sum) / sum(r.throughput_reports), NULL) AS throughput,
    min(r.throughput_min) AS throughput_min,
    max(r.throughput_max) AS throughput_max,
    if(sum(r.step_time_reports) > 0, sum(r.step_time_sum) / sum(r.step_time_reports), NULL) AS step_time_s,
    min(r.first_step) AS first_step,
    max(r.last_step) AS last_step
FROM job_throughput_1m AS r
GROUP BY job, rank, minute, attempt, throughput_unit;
