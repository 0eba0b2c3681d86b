-- Samples of GPUs, findings in node logs, and failures of nodes.

CREATE TABLE IF NOT EXISTS gpu_metrics
(
    id            String CODEC(ZSTD(3)),
    node          String CODEC(ZSTD(1)),
    gpu           Int64 CODEC(T64, ZSTD(1)),
    uuid          LowCardinality(String),
    name          LowCardinality(String),
    time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    utilisation   Nullable(Int64) CODEC(T64, ZSTD(1)),
    memory_utilisation Nullable(Int64) CODEC(T64, ZSTD(1)),
    memory_used_bytes Nullable(Int64) CODEC(Delta, ZSTD(1)),
    memory_total_bytes Nullable(Int64) CODEC(Delta, ZSTD(1)),
    power_watts   Nullable(Float32) CODEC(ZSTD(1)),
    temperature_c Nullable(Int64) CODEC(T64, ZSTD(1)),
    sm_clock_mhz  Nullable(Int64) CODEC(T64, ZSTD(1)),
    memory_clock_mhz Nullable(Int64) CODEC(T64, ZSTD(1)),
    throttle_reasons Array(LowCardinality(String)) COMMENT 'also empty if the GPU does not report them',
    ecc_corrected Nullable(Int64) CODEC(Delta, ZSTD(1)),
    ecc_uncorrected Nullable(Int64) CODEC(Delta, ZSTD(1)),
    rows_remapped Nullable(Int64) CODEC(Delta, ZSTD(1)),
    nvlink_errors Nullable(Int64) CODEC(Delta, ZSTD(1)),
    nvlink_active Nullable(Int64) CODEC(T64, ZSTD(1)),
    xids          Array(Int64),
    recovery_action LowCardinality(String),
    jobs          Array(String) COMMENT 'jobs of the processes on the GPU, as their environment names them',
    processes     String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.GpuProcess',
    recorded      Bool,
    error         LowCardinality(String),
    src_topic     LowCardinality(String),
    src_partition Int32 CODEC(T64, ZSTD(1)),
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
PRIMARY KEY (node, gpu, time)
ORDER BY (node, gpu, time, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS node_findings
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    incarnation   String CODEC(ZSTD(1)),
    node          LowCardinality(String),
    time          DateTime64(6, 'UTC'),
    since         Nullable(DateTime64(6, 'UTC')),
    gpu           Nullable(Int64),
    device        LowCardinality(String),
    event         LowCardinality(String),
    link          Nullable(Int64),
    recommended_action LowCardinality(String),
    recovery_action LowCardinality(String),
    drain         Bool,
    signature     LowCardinality(String),
    kind          LowCardinality(String),
    severity      LowCardinality(String),
    error_type    LowCardinality(String),
    component     LowCardinality(String),
    restartable   Nullable(Bool),
    confidence    Float32,
    place_topic   LowCardinality(String),
    place_partition Nullable(Int64),
    place_offset  Nullable(Int64),
    place_line    Nullable(Int64),
    text          String CODEC(ZSTD(3)),
    jobs          Array(String),
    times         Int64,
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (node, time, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row for each finding on a node, with all jobs that it was reported to.
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

-- Current verdicts that the node may have caused: infrastructure and unknown. A verdict without a node counts for the node of its
-- attempt if the attempt ran on one node.
CREATE VIEW IF NOT EXISTS node_failures AS
SELECT
    if(v.node != '', toString(v.node), if(length(a.nodes) = 1, toString(a.nodes[1]), '')) AS node,
    v.job AS job,
    v.attempt AS attempt,
    v.incarnation AS incarnation,
    v.time AS time,
    v.error_type AS error_type,
    v.faulty_component AS faulty_component,
    v.signature AS signature,
    v.message AS message
FROM verdicts AS v
LEFT JOIN
(
    SELECT job, attempt, incarnation, nodes
    FROM attempts
    WHERE (job, attempt) IN (SELECT job, attempt FROM failures WHERE node = '' AND error_type IN ('infrastructure', 'unknown'))
) AS a ON a.job = v.job AND a.attempt = v.attempt AND a.incarnation = v.incarnation
WHERE v.error_type IN ('infrastructure', 'unknown') AND node != '';
