"""A made-up history in the embedded engine: jobs, their measurements, failures, alarms, decisions and GPU samples."""

from clickhouse_connect.driver.client import Client

# One job in ten failed, one in a hundred runs now. Times end now, so that every list on the start page has rows.
_EVENTS = """
INSERT INTO job_events (id, job, attempt, kind, time, scheduler, nodes, gpus, user, exit_code, state, src_topic, src_partition,
    src_offset)
SELECT
    concat('e', toString(number)), concat('job-', toString(intDiv(number, 2) AS j)), 0,
    if(number % 2 = 0, 'started', if(j % 100 = 0, 'packed', 'ended')),
    now64(6) - toIntervalSecond(intDiv({jobs:UInt64} - j, 2) * 6 + if(number % 2 = 0, 3600, 0)), 'slurm',
    [concat('node-', toString(j % 500))], 8, concat('user-', toString(j % 200)), if(number % 2 = 1, toInt64(j % 10 = 1), NULL),
    if(number % 2 = 0, '', if(j % 10 = 1, 'FAILED', 'COMPLETED')), 'job-events', 0, number
FROM numbers({jobs:UInt64} * 2)
"""
_FAILURES = """
INSERT INTO failures (id, job, attempt, revision, time, node, message, error_type, faulty_component, confidence, source, signature, final,
    root_text, evidence, src_topic, src_partition, src_offset)
SELECT
    concat('f', toString(number)), concat('job-', toString(number * 10 + 1)), 0, 1,
    now64(6) - toIntervalSecond(intDiv({jobs:UInt64} - number * 10, 2) * 6), concat('node-', toString(number % 500)), 'it failed',
    if(number % 3 = 0, 'infrastructure', 'user_script'), 'gpu', 0.9, 'signature',
    concat('cause_', toString(number % 37)), true,
    'it failed', '[]', 'job-logs', 0, number
FROM numbers(intDiv({jobs:UInt64}, 10))
"""
_DECISIONS = """
INSERT INTO decisions (id, action, job, attempt, time, expires, mode, policy, reason, src_topic, src_partition, src_offset)
SELECT concat('restart/job-', toString(number * 30 + 1)), 'restart', concat('job-', toString(number * 30 + 1)), 0,
    now64(6) - toIntervalSecond(number * 60), now64(6), 'shadow', 'restart', 'it failed', 'failures', 0, number
FROM numbers(intDiv({jobs:UInt64}, 30))
"""
_METRICS = """
INSERT INTO job_metrics (id, job, attempt, node, rank, time, step, step_time_s, throughput, throughput_unit, loss, confidence, method,
    reports, evidence, src_topic, src_partition, src_offset)
SELECT
    concat('m', toString(number)),
    concat('job-', toString({jobs:UInt64} - 1 - intDiv(number, 1000) * intDiv({jobs:UInt64}, {measured:UInt64}))),
    0, 'node-1', 0, now64(6) - toIntervalSecond((1000 - number % 1000) * 15), number % 1000, 0.5 + (number % 7) / 100, 64, 'samples/s',
    2 / (1 + number % 1000), 0.9, 'stated', 1, '[]', 'job-logs', 0, number
FROM numbers({first:UInt64}, {rows:UInt64})
"""
_GPUS = """
INSERT INTO gpu_metrics (id, node, gpu, uuid, time, utilisation, jobs, processes, src_topic, src_partition, src_offset)
SELECT concat('g', toString(number)), concat('node-', toString(number % 500)), intDiv(number, 500) % 8, 'GPU',
    now64(6) - toIntervalSecond(intDiv(number, 4000) * 10), number % 101, [concat('job-', toString(number % 500))],
    '[]', 'gpu-metrics', 0, number
FROM numbers({rows:UInt64})
"""
PIECE = 1_000_000
"""Rows of one insert: its memory stays below a gigabyte."""


def fill(client: Client, jobs: int, metrics: int) -> None:
    """Fill a migrated database with `jobs` jobs and `metrics` measurements, a thousand of each job that has any."""
    for sql in (_EVENTS, _FAILURES, _DECISIONS):
        client.command(sql, parameters={"jobs": jobs})
    for first in range(0, metrics, PIECE):
        piece = {"first": first, "rows": min(PIECE, metrics - first), "jobs": jobs, "measured": metrics // 1000}
        client.command(_METRICS, parameters=piece)
    client.command(_GPUS, parameters={"rows": PIECE})
