-- What the GPUs of each job do, and what that says of hangs and of GPUs that are held for nothing.

CREATE TABLE IF NOT EXISTS gpu_activity
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    node          LowCardinality(String),
    time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    gpus          String CODEC(ZSTD(3)) COMMENT 'JSON array of records.GpuSpan',
    working       Int64 CODEC(T64, ZSTD(1)),
    waiting       Int64 CODEC(T64, ZSTD(1)),
    idle          Int64 CODEC(T64, ZSTD(1)),
    vacant        Int64 CODEC(T64, ZSTD(1)),
    unknown       Int64 CODEC(T64, ZSTD(1)),
    working_s     Float64 CODEC(ZSTD(1)),
    waiting_s     Float64 CODEC(ZSTD(1)),
    idle_s        Float64 CODEC(ZSTD(1)),
    vacant_s      Float64 CODEC(ZSTD(1)),
    unknown_s     Float64 CODEC(ZSTD(1)),
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, attempt, node, time, id)
SETTINGS non_replicated_deduplication_window = 1000;

ALTER TABLE alarms
    ADD COLUMN IF NOT EXISTS activity LowCardinality(String) AFTER limit,
    ADD COLUMN IF NOT EXISTS gpu_hours Nullable(Float64) AFTER activity;

-- One row an alarm: when it began, when it was over (null while it stands). One that is known better later is told again: the newest word counts.
CREATE OR REPLACE VIEW alarm_spans AS
SELECT
    job,
    attempt,
    kind,
    since,
    minIf(a.time, a.raised) AS said,
    if(countIf(NOT a.raised) = 0, NULL, maxIf(a.time, NOT a.raised)) AS over,
    argMaxIf(a.node, a.time, a.raised) AS node,
    argMaxIf(tuple(a.rank), a.time, a.raised).1 AS rank,
    argMaxIf(tuple(a.value), a.time, a.raised).1 AS value,
    argMaxIf(tuple(a.usual), a.time, a.raised).1 AS usual,
    argMaxIf(a.activity, a.time, a.raised) AS activity,
    argMax(tuple(a.gpu_hours), a.time).1 AS gpu_hours,
    argMaxIf(a.detail, a.time, a.raised) AS detail
FROM alarms AS a
GROUP BY job, attempt, kind, since
HAVING countIf(a.raised) > 0;
