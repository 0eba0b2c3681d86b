-- When jobs that wait were told to start, and when they did.

CREATE TABLE IF NOT EXISTS start_estimates
(
    id            String CODEC(ZSTD(3)),
    job           String CODEC(ZSTD(3)),
    attempt       Int64 CODEC(T64, ZSTD(1)),
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

-- Each of them against what came. `started_s` counts from when it was told, and is null where the attempt has not started; `gone`: it
-- ended without a start. A minute at either end counts as inside: schedulers look at their queues so often, and people read minutes.
CREATE OR REPLACE VIEW start_scores AS
SELECT
    s.job AS job,
    s.attempt AS attempt,
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
        minOrNullIf(time, kind = 'started') AS started,
        countIf(kind = 'ended') > 0 AS ended,
        argMaxIf(user, time, user != '') AS user,
        argMaxIf(partition, time, partition != '') AS partition
    FROM job_events
    WHERE scheduler != 'pipe' AND job IN (SELECT job FROM start_estimates)
    GROUP BY job, attempt
) AS a ON a.job = s.job AND a.attempt = s.attempt
WHERE isNull(a.started) OR a.started >= s.time;
