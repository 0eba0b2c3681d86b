-- What schedulers and pipes report about jobs.
--
-- In all files: one table for each topic. Each row has the id of its record and the position of the message that it came from
-- (src_topic, src_partition, src_offset). `stored` is the time of the insert. Tables are partitioned and rows expire by it (see
-- retention.py), whatever the clocks of the jobs show, so that one insert is in one partition and is stored completely or not at all.
-- The writer skips rows that are stored already; ReplacingMergeTree removes those that it misses.

CREATE TABLE IF NOT EXISTS job_events
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    incarnation   String CODEC(ZSTD(1)),
    kind          LowCardinality(String),
    time          DateTime64(6, 'UTC'),
    scheduler     LowCardinality(String),
    nodes         Array(LowCardinality(String)),
    gpus          Nullable(Float64),
    command       String CODEC(ZSTD(3)),
    directory     String CODEC(ZSTD(3)),
    user          LowCardinality(String),
    branch        LowCardinality(String),
    name          String CODEC(ZSTD(3)),
    partition     LowCardinality(String),
    account       LowCardinality(String),
    node_count    Nullable(Int64),
    cpus          Nullable(Float64),
    memory_gib    Nullable(Float64),
    time_limit_s  Nullable(Float64),
    workload      String CODEC(ZSTD(3)),
    rank          Nullable(Int64) COMMENT 'whose start or end it is, in a job that no scheduler reports' CODEC(T64, ZSTD(1)),
    exit_code     Nullable(Int64),
    signal        Nullable(Int64),
    state         LowCardinality(String),
    packed_with   String,
    newcomer      Bool,
    lines         Int64,
    detail        String CODEC(ZSTD(3)),
    sluid         String COMMENT 'id of this run of the job in Slurm' CODEC(ZSTD(3)),
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- The events that count. A pipe derives an incarnation from its own start, so it cannot be compared with a scheduler's: its events count
-- only for jobs that no scheduler reports.
CREATE VIEW IF NOT EXISTS scheduler_events AS
SELECT *
FROM job_events
WHERE scheduler NOT IN ('pipe', 'producer')
    OR job NOT IN (SELECT job FROM job_events WHERE scheduler NOT IN ('pipe', 'producer'));

-- One row for each attempt of each incarnation: when it ran, where, on how many GPUs, and how it ended. `ended` is NULL while it runs.
-- An attempt whose end nobody reported ended, at the latest, when the next one of its incarnation started.
CREATE VIEW IF NOT EXISTS attempts AS
SELECT
    a.job AS job,
    a.attempt AS attempt,
    a.incarnation AS incarnation,
    a.started AS started,
    if(a.last_end >= a.started, a.last_end, n.started) AS ended,
    a.nodes AS nodes,
    a.gpus AS gpus,
    a.user AS user,
    a.state AS state,
    a.exit_code AS exit_code,
    a.signal AS signal
FROM
(
    SELECT
        job,
        attempt,
        incarnation,
        minIf(time, kind = 'started') AS started,
        maxOrNullIf(time, kind IN ('ended', 'requeued')) AS last_end,
        argMaxIf(nodes, time, kind = 'started') AS nodes,
        argMaxIf(ifNull(gpus, 0), time, kind = 'started') AS gpus,
        argMaxIf(user, time, kind IN ('started', 'submitted')) AS user,
        argMaxIf(state, time, kind = 'ended') AS state,
        tupleElement(argMaxIf(tuple(exit_code), time, kind = 'ended'), 1) AS exit_code,
        tupleElement(argMaxIf(tuple(signal), time, kind = 'ended'), 1) AS signal
    FROM scheduler_events
    GROUP BY job, attempt, incarnation
    HAVING countIf(kind = 'started') > 0
) AS a
ASOF LEFT JOIN
(
    SELECT job, incarnation, attempt, toNullable(min(time)) AS started
    FROM scheduler_events
    WHERE kind = 'started' AND attempt > 0
    GROUP BY job, incarnation, attempt
) AS n ON n.job = a.job AND n.incarnation = a.incarnation AND n.attempt > a.attempt;
