-- What people told the bridges, and what they said about verdicts.

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

CREATE TABLE IF NOT EXISTS feedback
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    time          DateTime64(6, 'UTC'),
    user          LowCardinality(String),
    cause         LowCardinality(String),
    error_type    LowCardinality(String),
    component     LowCardinality(String),
    line          String CODEC(ZSTD(3)),
    verdict_id    String CODEC(ZSTD(3)),
    verdict       LowCardinality(String) COMMENT 'the cause that the verdict named',
    comment       String CODEC(ZSTD(3)),
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- The last word of people on each attempt.
CREATE VIEW IF NOT EXISTS corrections AS
SELECT * FROM (SELECT * FROM feedback ORDER BY job, attempt, time DESC, id LIMIT 1 BY job, attempt);

-- What became of each decision: its last final result, else the furthest that it came.
CREATE OR REPLACE VIEW decision_outcomes AS
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
