-- Messages that could not be processed.

CREATE TABLE IF NOT EXISTS dead_letters
(
    id            String CODEC(ZSTD(3)),
    topic         LowCardinality(String),
    partition     Int64,
    offset        Int64 CODEC(Delta, ZSTD(1)),
    time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    reason        String CODEC(ZSTD(3)),
    stage         LowCardinality(String),
    key           Nullable(String) CODEC(ZSTD(3)) COMMENT 'bytes',
    value         String CODEC(ZSTD(3)) COMMENT 'bytes; cut if too large',
    size          Int64 CODEC(ZSTD(1)) COMMENT 'bytes of the whole value',
    sha256        String CODEC(ZSTD(1)) COMMENT 'of the whole value, in hexadecimal',
    truncated     Bool COMMENT 'whether key or value are cut',
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
PRIMARY KEY (topic, partition, time)
ORDER BY (topic, partition, time, id)
SETTINGS non_replicated_deduplication_window = 1000;
