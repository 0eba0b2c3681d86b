-- Decisions, their results, and approvals.

CREATE TABLE IF NOT EXISTS decisions
(
    id            String CODEC(ZSTD(3)),
    action        LowCardinality(String),
    job           String,
    node          String,
    attempt       Int64,
    incarnation   String CODEC(ZSTD(1)),
    time          DateTime64(6, 'UTC'),
    expires       DateTime64(6, 'UTC'),
    mode          LowCardinality(String),
    policy        LowCardinality(String),
    reason        String CODEC(ZSTD(3)),
    cause         LowCardinality(String),
    cause_id      String CODEC(ZSTD(3)),
    exclude_nodes Array(LowCardinality(String)),
    node_evidence Bool,
    grace_s       Float64,
    checkpoint    String CODEC(ZSTD(3)) COMMENT 'path of the last durable checkpoint, as in the log',
    beneficiary   String,
    signature     String,
    evidence      String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.Evidence',
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS decision_results
(
    id            String CODEC(ZSTD(3)),
    decision_id   String CODEC(ZSTD(3)),
    action        LowCardinality(String),
    job           String,
    attempt       Int64,
    incarnation   String CODEC(ZSTD(1)),
    cause         LowCardinality(String),
    node          LowCardinality(String),
    user          LowCardinality(String),
    time          DateTime64(6, 'UTC'),
    outcome       LowCardinality(String),
    detail        String CODEC(ZSTD(3)),
    seen          Map(LowCardinality(String), String),
    actuator      LowCardinality(String),
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- The outcome of each decision: its last final result, or else the latest stage that it reached.
CREATE VIEW IF NOT EXISTS decision_outcomes AS
SELECT
    decision_id,
    argMax(outcome, (rank, time)) AS last_outcome,
    argMax(detail, (rank, time)) AS last_detail,
    argMax(actuator, (rank, time)) AS last_actuator,
    argMax(seen, (rank, time)) AS last_seen,
    max(time) AS last_time
FROM
(
    SELECT *, multiIf(outcome IN ('deferred', 'stopped', 'awaiting_approval'), 0, outcome = 'started', 1, 2) AS rank
    FROM decision_results
)
GROUP BY decision_id;

CREATE TABLE IF NOT EXISTS approvals
(
    id            String CODEC(ZSTD(3)),
    command       LowCardinality(String),
    about         String CODEC(ZSTD(3)) COMMENT 'a decision, or the stop that is lifted',
    job           String,
    user          LowCardinality(String),
    principal     LowCardinality(String),
    host          LowCardinality(String),
    time          DateTime64(6, 'UTC'),
    expires       Nullable(DateTime64(6, 'UTC')),
    reason        String CODEC(ZSTD(3)),
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;
