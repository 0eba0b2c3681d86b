-- What nodes' logs and GPUs say, and the jobs that it was told to.

CREATE TABLE IF NOT EXISTS node_findings
(
    id              String CODEC(ZSTD(3)),
    job             String,
    attempt         Int64,
    node            LowCardinality(String),
    time            DateTime64(6, 'UTC'),
    since           Nullable(DateTime64(6, 'UTC')),
    gpu             Nullable(Int64),
    device          LowCardinality(String),
    signature       LowCardinality(String),
    kind            LowCardinality(String),
    severity        LowCardinality(String),
    error_type      LowCardinality(String),
    component       LowCardinality(String),
    restartable     Nullable(Bool),
    confidence      Float32,
    place_topic     LowCardinality(String),
    place_partition Nullable(Int64),
    place_offset    Nullable(Int64),
    place_line      Nullable(Int64),
    text            String CODEC(ZSTD(3)),
    jobs            Array(String),
    times           Int64,
    src_topic       LowCardinality(String),
    src_partition   Int32,
    src_offset      Int64 CODEC(Delta, ZSTD(1)),
    stored          DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (node, time, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a sign of trouble on a node, whoever was told, with all jobs that were.
CREATE VIEW IF NOT EXISTS node_troubles AS
SELECT
    node,
    time,
    signature,
    severity,
    component,
    gpu,
    device,
    max(f.times) AS times,
    arraySort(groupUniqArrayIf(f.job, f.job != '')) AS told,
    any(f.text) AS text,
    any(f.place_topic) AS place_topic
FROM node_findings AS f
WHERE severity != 'info'
GROUP BY node, time, signature, severity, component, gpu, device, f.place_topic, f.place_partition, f.place_offset, f.place_line;
