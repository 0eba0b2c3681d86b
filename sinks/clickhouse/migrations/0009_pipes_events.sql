-- A pipe tells of the command that it runs. Where a scheduler speaks of the same attempt, its word counts, whichever is the newer.

CREATE OR REPLACE VIEW attempts AS
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
        argMinIf(time, (scheduler = 'pipe', time), kind = 'started') AS started,
        argMaxOrNullIf(time, (scheduler != 'pipe', time), kind IN ('ended', 'requeued')) AS last_end,
        argMaxIf(nodes, (scheduler != 'pipe', time), kind = 'started') AS nodes,
        argMaxIf(ifNull(gpus, 0), (scheduler != 'pipe', time), kind = 'started') AS gpus,
        argMaxIf(user, (scheduler != 'pipe', time), kind IN ('started', 'submitted')) AS user,
        argMaxIf(state, (scheduler != 'pipe', time), kind = 'ended') AS state,
        tupleElement(argMaxIf(tuple(exit_code), (scheduler != 'pipe', time), kind = 'ended'), 1) AS exit_code,
        tupleElement(argMaxIf(tuple(signal), (scheduler != 'pipe', time), kind = 'ended'), 1) AS signal
    FROM job_events
    GROUP BY job, attempt
    HAVING countIf(kind = 'started') > 0
);
