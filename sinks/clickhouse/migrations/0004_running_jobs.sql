-- Alarms, slowdowns, checkpoints and GPU activity of running jobs.

CREATE TABLE IF NOT EXISTS alarms
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    incarnation   String CODEC(ZSTD(1)),
    node          LowCardinality(String),
    rank          Nullable(Int64),
    kind          LowCardinality(String),
    raised        Bool,
    time          DateTime64(6, 'UTC'),
    since         DateTime64(6, 'UTC'),
    value         Nullable(Float64),
    usual         Nullable(Float64),
    limit         Nullable(Float64),
    activity      LowCardinality(String),
    gpu_hours     Nullable(Float64),
    detail        String CODEC(ZSTD(3)),
    evidence      String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.Evidence',
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, attempt, kind, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row for each alarm, with its begin and its end (null while it lasts). The newest record of an alarm counts.
CREATE VIEW IF NOT EXISTS alarm_spans AS
SELECT
    job,
    attempt,
    incarnation,
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
GROUP BY job, attempt, incarnation, kind, since
HAVING countIf(a.raised) > 0;

CREATE TABLE IF NOT EXISTS slowdowns
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    incarnation   String CODEC(ZSTD(1)),
    packed_job    String,
    node          LowCardinality(String),
    time          DateTime64(6, 'UTC'),
    before_s      Float64,
    after_s       Float64,
    ratio         Float64,
    threshold     Float64,
    confidence    Nullable(Float64),
    recovered     Nullable(Float64),
    steps_after   Int64,
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

CREATE TABLE IF NOT EXISTS checkpoints
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    incarnation   String CODEC(ZSTD(1)),
    node          LowCardinality(String),
    rank          Int64,
    number        Int64,
    state         LowCardinality(String),
    durable_by    LowCardinality(String),
    time          DateTime64(6, 'UTC'),
    since         DateTime64(6, 'UTC'),
    step          Nullable(Int64),
    path          String CODEC(ZSTD(3)),
    asynchronous  Bool,
    duration_s    Nullable(Float64),
    usual_duration_s Nullable(Float64),
    interval_s    Nullable(Float64),
    evidence      String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.Evidence',
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, attempt, number, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row for each save of a checkpoint: its begin and its newest state.
CREATE VIEW IF NOT EXISTS checkpoint_saves AS
SELECT
    job,
    attempt,
    incarnation,
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
GROUP BY job, attempt, incarnation, number;

CREATE TABLE IF NOT EXISTS gpu_activity
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    incarnation   String CODEC(ZSTD(1)),
    node          LowCardinality(String),
    time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    gpus          String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.GpuSpan',
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
