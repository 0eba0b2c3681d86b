-- Lines of jobs, for search. The sink fills it where `clickhouse.job_lines_days` is set.
-- The sorting key identifies a line: a repeat of one that a producer sent again is dropped by a merge, and by FINAL before that.
-- One partition a day, so that expired rows are dropped as whole parts.

CREATE TABLE IF NOT EXISTS job_lines
(
    id            String CODEC(ZSTD(3)),
    job           String CODEC(ZSTD(1)),
    attempt       Int64 CODEC(T64, ZSTD(1)),
    incarnation   String CODEC(ZSTD(1)),
    node          LowCardinality(String),
    rank          Int64 CODEC(T64, ZSTD(1)),
    stream        LowCardinality(String),
    producer      LowCardinality(String),
    piece         Int64 CODEC(Delta, ZSTD(1)) COMMENT 'order within a producer''s stream',
    line          Int64 CODEC(Delta, ZSTD(1)) COMMENT 'line number in the stream; 0 where the producer does not number lines',
    time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    text          String CODEC(ZSTD(3)),
    omitted       Int64 CODEC(T64, ZSTD(1)) COMMENT 'lines that were not stored from here on, since the job had reached its quota',
    src_topic     LowCardinality(String),
    src_partition Int32 CODEC(T64, ZSTD(1)),
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1)),
    INDEX times time TYPE minmax GRANULARITY 1,
    INDEX words text TYPE tokenbf_v1(16384, 2, 0) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(stored)
ORDER BY (job, attempt, rank, stream, incarnation, producer, piece)
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;
