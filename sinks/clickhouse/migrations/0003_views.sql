-- What people ask for, with repeats and earlier revisions left out.

CREATE VIEW IF NOT EXISTS job_throughput AS
SELECT
    job,
    rank,
    minute,
    attempt,
    throughput_unit,
    sum(r.reports) AS reports,
    if(sum(r.throughput_reports) > 0, sum(r.throughput_sum) / sum(r.throughput_reports), NULL) AS throughput,
    min(r.throughput_min) AS throughput_min,
    max(r.throughput_max) AS throughput_max,
    if(sum(r.step_time_reports) > 0, sum(r.step_time_sum) / sum(r.step_time_reports), NULL) AS step_time_s,
    min(r.first_step) AS first_step,
    max(r.last_step) AS last_step
FROM job_throughput_1m AS r
GROUP BY job, rank, minute, attempt, throughput_unit;

-- The verdict in force on each attempt: the highest revision. Verdicts that were taken back are not among them.
CREATE VIEW IF NOT EXISTS verdicts AS
SELECT *
FROM (SELECT * FROM failures ORDER BY job, attempt, revision DESC, id LIMIT 1 BY job, attempt)
WHERE error_type != 'none';

-- What became of each decision: its last final result, else its last one.
CREATE VIEW IF NOT EXISTS decision_outcomes AS
SELECT
    decision_id,
    argMax(outcome, (outcome != 'started', time)) AS last_outcome,
    argMax(detail, (outcome != 'started', time)) AS last_detail,
    argMax(actuator, (outcome != 'started', time)) AS last_actuator,
    argMax(seen, (outcome != 'started', time)) AS last_seen,
    max(time) AS last_time
FROM decision_results
GROUP BY decision_id;

-- One row an attempt of a job: when it ran, where, on how many GPUs, and how it ended. Still running: `ended` is NULL.
-- An attempt whose end nobody reported ended, at the latest, when the next one started.
CREATE VIEW IF NOT EXISTS attempts AS
SELECT
    job,
    attempt,
    started,
    if(last_end >= started, last_end, leadInFrame(toNullable(started)) OVER (
        PARTITION BY job ORDER BY attempt ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
    )) AS ended,
    nodes,
    gpus,
    user,
    state,
    exit_code,
    signal
FROM
(
    SELECT
        job,
        attempt,
        minIf(time, kind = 'started') AS started,
        maxOrNullIf(time, kind IN ('ended', 'requeued')) AS last_end,
        argMaxIf(nodes, time, kind = 'started') AS nodes,
        argMaxIf(ifNull(gpus, 0), time, kind = 'started') AS gpus,
        argMaxIf(user, time, kind IN ('started', 'submitted')) AS user,
        argMaxIf(state, time, kind = 'ended') AS state,
        argMaxIf(exit_code, time, kind = 'ended') AS exit_code,
        argMaxIf(signal, time, kind = 'ended') AS signal
    FROM job_events
    GROUP BY job, attempt
    HAVING countIf(kind = 'started') > 0
);
