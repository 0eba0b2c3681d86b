-- Estimated durations and starts, and spot quotas.

CREATE TABLE IF NOT EXISTS estimates
(
    id             String CODEC(ZSTD(3)),
    job            String,
    attempt        Int64,
    incarnation    String CODEC(ZSTD(1)),
    revision       Int64,
    time           DateTime64(6, 'UTC'),
    duration_s     Nullable(Float64),
    duration_low_s Nullable(Float64),
    duration_high_s Nullable(Float64),
    remaining_s    Nullable(Float64),
    remaining_low_s Nullable(Float64),
    remaining_high_s Nullable(Float64),
    done           Nullable(Float64),
    gpu_utilisation Nullable(Float64),
    similar_jobs   Array(String),
    method         LowCardinality(String),
    model          LowCardinality(String) COMMENT 'version of the trained model that answered',
    evidence       String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.Evidence',
    src_topic      LowCardinality(String),
    src_partition  Int32,
    src_offset     Int64 CODEC(Delta, ZSTD(1)),
    stored         DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- The current estimate of each attempt: the highest revision. A withdrawn estimate holds no number.
CREATE VIEW IF NOT EXISTS newest_estimates AS
SELECT * FROM estimates
ORDER BY job, attempt, incarnation, revision DESC, id
LIMIT 1 BY job, attempt, incarnation;

-- Estimated and actual durations of ended attempts. `error` is relative to the time that remained when the estimate was made.
CREATE VIEW IF NOT EXISTS estimate_scores AS
SELECT
    e.job AS job,
    e.attempt AS attempt,
    e.incarnation AS incarnation,
    e.revision AS revision,
    e.time AS time,
    e.method AS method,
    e.done AS done,
    a.user AS user,
    p.partition AS partition,
    a.gpus AS gpus,
    a.state AS state,
    ifNull(a.signal, 0) = 0 AND ifNull(a.exit_code, if(a.state = 'COMPLETED', 0, 1)) = 0 AS ended_well,
    e.duration_s AS duration_s,
    e.duration_low_s AS duration_low_s,
    e.duration_high_s AS duration_high_s,
    dateDiff('millisecond', a.started, assumeNotNull(a.ended)) / 1000 AS took_s,
    abs(took_s - assumeNotNull(e.duration_s)) / greatest(took_s - if(e.runs, dateDiff('millisecond', a.started, e.time) / 1000, 0), 1) AS error,
    took_s >= ifNull(e.duration_low_s, 0) AND took_s <= ifNull(e.duration_high_s, inf) AS inside,
    isNotNull(e.duration_low_s) AND isNotNull(e.duration_high_s) AS has_interval
FROM
(
    SELECT n.*, n.method = 'progress' AS runs
    FROM (SELECT * FROM estimates ORDER BY job, id LIMIT 1 BY job, id) AS n
    INNER JOIN attempts AS s ON s.job = n.job AND s.attempt = n.attempt AND s.incarnation = n.incarnation
    WHERE runs OR n.revision = 0 OR n.time <= s.started
    ORDER BY n.job, n.attempt, n.incarnation, n.revision DESC
    LIMIT 1 BY n.job, n.attempt, n.incarnation, if(runs, n.revision, 0)
) AS e
INNER JOIN (SELECT * FROM attempts WHERE isNotNull(ended)) AS a ON a.job = e.job AND a.attempt = e.attempt AND a.incarnation = e.incarnation
LEFT JOIN (
    SELECT job, attempt, incarnation, argMaxIf(partition, time, partition != '') AS partition
    FROM job_events WHERE kind IN ('submitted', 'requeued', 'started', 'ended') GROUP BY job, attempt, incarnation
) AS p ON p.job = e.job AND p.attempt = e.attempt AND p.incarnation = e.incarnation
WHERE isNotNull(e.duration_s);

CREATE TABLE IF NOT EXISTS start_estimates
(
    id            String CODEC(ZSTD(3)),
    job           String CODEC(ZSTD(3)),
    attempt       Int64 CODEC(T64, ZSTD(1)),
    incarnation   String CODEC(ZSTD(1)),
    time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    expected_s    Nullable(Float64) CODEC(ZSTD(1)),
    low_s         Nullable(Float64) CODEC(ZSTD(1)),
    high_s        Nullable(Float64) CODEC(ZSTD(1)),
    chance        Float64 CODEC(ZSTD(1)),
    method        LowCardinality(String),
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, time, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- Estimated and actual starts. `started_s` counts from the time of the estimate and is null before the start; `gone`: the attempt ended
-- without a start. Bounds are extended by a minute on either side, because schedulers examine their queues about once a minute.
CREATE VIEW IF NOT EXISTS start_scores AS
SELECT
    s.job AS job,
    s.attempt AS attempt,
    s.incarnation AS incarnation,
    s.time AS time,
    s.method AS method,
    a.user AS user,
    a.partition AS partition,
    s.expected_s AS expected_s,
    s.low_s AS low_s,
    s.high_s AS high_s,
    dateDiff('millisecond', s.time, a.started) / 1000 AS started_s,
    isNull(a.started) AND ifNull(a.ended, 0) AS gone,
    started_s - s.expected_s AS late_s,
    started_s < s.low_s - 60 AS earlier,
    started_s > s.high_s + 60 AS later,
    isNull(a.started) AND NOT gone AND dateDiff('second', s.time, now()) > s.high_s + 60 AS overdue
FROM (SELECT * FROM start_estimates ORDER BY job, id LIMIT 1 BY job, id) AS s
LEFT JOIN
(
    SELECT
        job,
        attempt,
        incarnation,
        minOrNullIf(time, kind = 'started') AS started,
        countIf(kind = 'ended') > 0 AS ended,
        argMaxIf(user, time, user != '') AS user,
        argMaxIf(partition, time, partition != '') AS partition
    FROM job_events
    WHERE scheduler != 'pipe' AND job IN (SELECT job FROM start_estimates)
    GROUP BY job, attempt, incarnation
) AS a ON a.job = s.job AND a.attempt = s.attempt
WHERE (isNull(a.started) OR a.started >= s.time)
    -- Slurm does not show the incarnation of a job that was requeued.
    AND (s.incarnation = '' OR a.incarnation = '' OR a.incarnation = s.incarnation);

CREATE TABLE IF NOT EXISTS quotas
(
    id             String CODEC(ZSTD(3)),
    cluster        LowCardinality(String),
    time           DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    until          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    quota          Nullable(Float64) CODEC(ZSTD(1)),
    reason         String CODEC(ZSTD(3)),
    available      Nullable(Float64) CODEC(ZSTD(1)),
    safety         Float64 CODEC(ZSTD(1)),
    guarantee      Float64 CODEC(ZSTD(1)),
    guaranteed_h   Int64 CODEC(T64, ZSTD(1)),
    capacity       Nullable(Float64) CODEC(ZSTD(1)),
    idle           Nullable(Float64) CODEC(ZSTD(1)),
    in_use         Nullable(Float64) CODEC(ZSTD(1)),
    waiting        Nullable(Float64) CODEC(ZSTD(1)),
    spot_in_use    Nullable(Float64) CODEC(ZSTD(1)),
    spot_waiting   Nullable(Float64) CODEC(ZSTD(1)),
    eviction_rate  Nullable(Float64) CODEC(ZSTD(1)),
    longest_wait_s Nullable(Float64) CODEC(ZSTD(1)),
    forecaster     LowCardinality(String),
    history_h      Int64 CODEC(T64, ZSTD(1)),
    organisations  String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.OrganisationDemand',
    beyond         String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.BeyondQuota',
    src_topic      LowCardinality(String),
    src_partition  Int32,
    src_offset     Int64 CODEC(Delta, ZSTD(1)),
    stored         DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (cluster, time, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row for each organisation and interval.
CREATE VIEW IF NOT EXISTS organisation_demand AS
SELECT
    cluster,
    time,
    JSONExtractString(each, 'organisation') AS organisation,
    JSONExtractFloat(each, 'in_use') AS in_use,
    JSONExtractFloat(each, 'waiting') AS waiting,
    JSONExtractFloat(each, 'peak') AS peak,
    JSONExtract(each, 'median', 'Nullable(Float64)') AS median,
    JSONExtract(each, 'upper', 'Nullable(Float64)') AS upper
FROM quotas
ARRAY JOIN JSONExtractArrayRaw(organisations) AS each;
