-- What jobs' logs tell of the checkpoints that they save, and the one that a decision would restart from.

CREATE TABLE IF NOT EXISTS checkpoints
(
    id               String CODEC(ZSTD(3)),
    job              String,
    attempt          Int64,
    node             LowCardinality(String),
    rank             Int64,
    number           Int64,
    state            LowCardinality(String),
    durable_by       LowCardinality(String),
    time             DateTime64(6, 'UTC'),
    since            DateTime64(6, 'UTC'),
    step             Nullable(Int64),
    path             String CODEC(ZSTD(3)),
    asynchronous     Bool,
    duration_s       Nullable(Float64),
    usual_duration_s Nullable(Float64),
    interval_s       Nullable(Float64),
    evidence         String CODEC(ZSTD(3)) COMMENT 'JSON array of records.Evidence',
    src_topic        LowCardinality(String),
    src_partition    Int32,
    src_offset       Int64 CODEC(Delta, ZSTD(1)),
    stored           DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, attempt, number, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a save: when it began, and what became of it.
CREATE VIEW IF NOT EXISTS checkpoint_saves AS
SELECT
    job,
    attempt,
    number,
    min(c.since) AS since,
    argMax(c.state, (c.state != 'started', c.time)) AS state,
    argMax(c.durable_by, (c.state != 'started', c.time)) AS durable_by,
    argMax(c.time, (c.state != 'started', c.time)) AS time,
    argMax(c.step, (c.state != 'started', c.time)) AS step,
    argMax(c.path, (c.state != 'started', c.time)) AS path,
    argMax(c.duration_s, (c.state != 'started', c.time)) AS duration_s,
    argMax(c.interval_s, (c.state != 'started', c.time)) AS interval_s
FROM checkpoints AS c
GROUP BY job, attempt, number;

ALTER TABLE decisions
    ADD COLUMN IF NOT EXISTS checkpoint String CODEC(ZSTD(3)) COMMENT 'path of the last durable checkpoint, as the log named it' AFTER node_evidence;
