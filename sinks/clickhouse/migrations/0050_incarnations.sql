-- Which of several jobs of one id a row is about; empty where not known, and in rows of before.

ALTER TABLE job_metrics ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE failures ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE slowdowns ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE alarms ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE checkpoints ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE job_events ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE model_answers ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE estimates ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE start_estimates ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE feedback ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE gpu_activity ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE node_findings ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE decisions ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;
ALTER TABLE decision_results ADD COLUMN IF NOT EXISTS incarnation String CODEC(ZSTD(1)) AFTER attempt;

CREATE OR REPLACE VIEW verdicts AS
SELECT *
FROM
(
    SELECT * FROM failures
    ORDER BY job, attempt, incarnation, revision DESC, confidence DESC, id
    LIMIT 1 BY job, attempt, incarnation
)
WHERE error_type != 'none';

CREATE OR REPLACE VIEW revised_verdicts AS
SELECT
    job,
    attempt,
    incarnation,
    uniqExact(revision) AS revisions,
    argMin(error_type, revision) AS first_error_type,
    argMin(signature, revision) AS first_signature,
    argMin(source, revision) AS first_source,
    argMax(error_type, revision) AS last_error_type,
    argMax(signature, revision) AS last_signature,
    argMax(source, revision) AS last_source,
    argMax(confirmed_by, revision) AS last_confirmed_by,
    argMax(contradicted_by, revision) AS last_contradicted_by,
    argMax(message, revision) AS last_message,
    max(time) AS last_time
FROM failures
GROUP BY job, attempt, incarnation
HAVING first_error_type != last_error_type OR first_signature != last_signature;

-- The events that count. A pipe derives an incarnation from its own start, so it cannot be compared with a scheduler's: its events count
-- only for jobs that no scheduler reports.
CREATE VIEW IF NOT EXISTS scheduler_events AS
SELECT *
FROM job_events
WHERE scheduler NOT IN ('pipe', 'producer')
    OR job NOT IN (SELECT job FROM job_events WHERE scheduler NOT IN ('pipe', 'producer'));

-- One row for each attempt of each incarnation: when it ran, where, on how many GPUs, and how it ended. `ended` is NULL while it runs.
-- An attempt whose end nobody reported ended, at the latest, when the next one of its incarnation started.
CREATE OR REPLACE VIEW attempts AS
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

CREATE OR REPLACE VIEW node_failures AS
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

CREATE OR REPLACE VIEW checkpoint_saves AS
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

CREATE OR REPLACE VIEW newest_estimates AS
SELECT * FROM estimates
ORDER BY job, attempt, incarnation, revision DESC, id
LIMIT 1 BY job, attempt, incarnation;

CREATE OR REPLACE VIEW corrections AS
SELECT *
FROM
(
    SELECT * FROM feedback
    ORDER BY job, attempt, incarnation, time DESC, id
    LIMIT 1 BY job, attempt, incarnation
);

CREATE OR REPLACE VIEW start_scores AS
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

CREATE OR REPLACE VIEW estimate_scores AS
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

CREATE OR REPLACE VIEW alarm_spans AS
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

CREATE OR REPLACE VIEW model_disagreements AS
SELECT
    a.id AS id,
    a.job AS job,
    a.attempt AS attempt,
    a.incarnation AS incarnation,
    a.time AS time,
    f.error_type AS verdict,
    f.confidence AS confidence,
    f.signature AS signature,
    f.message AS message,
    a.error_type AS said,
    a.faulty_component AS said_component,
    a.certainty AS certainty,
    a.root_line AS said_line,
    a.lines AS said_lines,
    a.model AS model
FROM model_answers AS a
INNER JOIN failures AS f ON f.job = a.job AND f.id = a.about AND f.revision = a.revision
WHERE a.error_type NOT IN ('', 'unknown', f.error_type) AND f.error_type != 'unknown'
LIMIT 1 BY a.id;
