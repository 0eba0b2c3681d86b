-- How many GPUs spot jobs may have, and what high-priority jobs will want.

CREATE TABLE IF NOT EXISTS quotas
(
    id             String CODEC(ZSTD(3)),
    cluster        LowCardinality(String),
    time           DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    until          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    quota          Nullable(Float64) CODEC(ZSTD(1)),
    reason         String CODEC(ZSTD(3)),
    available      Nullable(Float64) CODEC(ZSTD(1)),
    safety         Float64 CODEC(ZSTD(1)),
    guarantee      Float64 CODEC(ZSTD(1)),
    guaranteed_h   Int64 CODEC(T64, ZSTD(1)),
    capacity       Nullable(Float64) CODEC(ZSTD(1)),
    idle           Nullable(Float64) CODEC(ZSTD(1)),
    in_use         Nullable(Float64) CODEC(ZSTD(1)),
    waiting        Nullable(Float64) CODEC(ZSTD(1)),
    spot_in_use    Nullable(Float64) CODEC(ZSTD(1)),
    spot_waiting   Nullable(Float64) CODEC(ZSTD(1)),
    eviction_rate  Nullable(Float64) CODEC(ZSTD(1)),
    longest_wait_s Nullable(Float64) CODEC(ZSTD(1)),
    forecaster     LowCardinality(String),
    history_h      Int64 CODEC(T64, ZSTD(1)),
    organisations  String CODEC(ZSTD(3)) COMMENT 'JSON array of records.OrganisationDemand',
    beyond         String CODEC(ZSTD(3)) COMMENT 'JSON array of records.BeyondQuota',
    src_topic      LowCardinality(String),
    src_partition  Int32,
    src_offset     Int64 CODEC(Delta, ZSTD(1)),
    stored         DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (cluster, time, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an organisation and interval.
CREATE OR REPLACE VIEW organisation_demand AS
SELECT
    cluster,
    time,
    JSONExtractString(each, 'organisation') AS organisation,
    JSONExtractFloat(each, 'in_use') AS in_use,
    JSONExtractFloat(each, 'waiting') AS waiting,
    JSONExtractFloat(each, 'peak') AS peak,
    JSONExtract(each, 'median', 'Nullable(Float64)') AS median,
    JSONExtract(each, 'upper', 'Nullable(Float64)') AS upper
FROM quotas
ARRAY JOIN JSONExtractArrayRaw(organisations) AS each;
