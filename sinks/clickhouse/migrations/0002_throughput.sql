-- Throughput and step time of every rank, minute by minute. Sums and counts, so that rows of one minute that arrived in
-- several inserts add up. Small granules: one job's minutes are read without its neighbours'.

CREATE TABLE IF NOT EXISTS job_throughput_1m
(
    job                String CODEC(ZSTD(1)),
    rank               Int64 CODEC(T64, ZSTD(1)),
    minute             DateTime('UTC') CODEC(Delta, ZSTD(1)),
    attempt            Int64 CODEC(T64, ZSTD(1)),
    throughput_unit    LowCardinality(String) COMMENT 'empty where no throughput is known',
    reports            SimpleAggregateFunction(sum, Int64),
    throughput_reports SimpleAggregateFunction(sum, Int64),
    throughput_sum     SimpleAggregateFunction(sum, Float64),
    throughput_min     SimpleAggregateFunction(min, Nullable(Float32)),
    throughput_max     SimpleAggregateFunction(max, Nullable(Float32)),
    step_time_reports  SimpleAggregateFunction(sum, Int64),
    step_time_sum      SimpleAggregateFunction(sum, Float64),
    first_step         SimpleAggregateFunction(min, Nullable(Int64)),
    last_step          SimpleAggregateFunction(max, Nullable(Int64)),
    stored             SimpleAggregateFunction(max, DateTime('UTC'))
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
