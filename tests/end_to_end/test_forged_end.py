"""Somebody with the Kafka rights of a pipe writes a fault and an end under the keys of other users' jobs, on a real Slurm."""

import time
from pathlib import Path

import msgspec
import pytest

from schedmate.settings.settings import load
from schedmate_records import LogChunk
from sinks.redis.connect import open_redis
from sinks.redis.read_state import read_job
from streams.kafka import KafkaProducer
from streams.transport import Outgoing, outgoing
from tests.servers.clickhouse import ClickHouseServer
from tests.servers.kafka import Kafka
from tests.servers.redis import RedisServer
from tests.servers.slurm import Slurm

from .stack import Stack, running

pytestmark = [pytest.mark.kafka, pytest.mark.clickhouse, pytest.mark.redis, pytest.mark.slurm, pytest.mark.slow]

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus."
SCHEDULERS = ("producer", "pipe")


def fault(job: str) -> Outgoing:
    return outgoing(
        LogChunk(job=job, producer="mallory", node="n1", lines=[XID], time=time.time(), first_line=1, first_piece=1)
    )


def end(job: str, scheduler: str) -> Outgoing:
    event = {
        "id": f"{scheduler}/{job}/0/ended/1",
        "job": job,
        "kind": "ended",
        "scheduler": scheduler,
        "exit_code": 1,
        "time": time.time(),
    }
    return Outgoing("pipe-events", job.encode(), msgspec.json.encode(event))


@pytest.mark.timeout(300)
def test_jobs_whose_end_was_forged_run_on_and_are_not_queued_again(
    own_kafka: Kafka, clickhouse: ClickHouseServer, redis_store: RedisServer, slurm: Slurm, tmp_path: Path
) -> None:
    with running(own_kafka, clickhouse, redis_store, slurm, tmp_path) as stack:
        producer = KafkaProducer(own_kafka.connection)
        try:
            first = int(submit(stack))
            jobs = {str(first): "producer"}
            for number in range(1, 6):
                job, scheduler = str(first + number), SCHEDULERS[number % 2]
                early = [fault(job), end(job, scheduler)] if number > 3 else []
                for message in early:  # Slurm gives the next number to the next job
                    producer.send(message).result(20)
                assert submit(stack) == job
                jobs[job] = scheduler
            for job in jobs:
                slurm.wait(job, "RUNNING")
                stack.wait(f"the start of job {job}", lambda job=job: started(stack, job))
            for job, scheduler in jobs.items():
                producer.send(fault(job)).result(20)
                producer.send(end(job, scheduler)).result(20)
            for job in jobs:
                stack.wait(f"the decision about job {job}", lambda job=job: decisions(stack, job))
                assert verdicts(stack, job)[-1] == ("infrastructure", False), "the job runs"
                shown = read_job(open_redis(redis_store.url), job, prefix=load().settings.redis.prefix)
                assert shown
                assert (shown.state, shown.verdict_final) == ("running", False)
        finally:
            producer.close()
        (stack.scratch / "go").touch()
        for job in jobs:
            slurm.wait(job, "COMPLETED")
        for job in jobs:
            stack.wait(f"the retraction for job {job}", lambda job=job: verdicts(stack, job)[-1] == ("none", True))
            stack.wait(f"the result for job {job}", lambda job=job: results(stack, job))
            assert results(stack, job) == ["refused"]
            fields = slurm.fields(job)
            assert (fields["JobState"], fields["Restarts"]) == ("COMPLETED", "0")
        refused = stack.sql("SELECT count() FROM dead_letters WHERE topic = 'pipe-events'")
        assert refused[0][0] >= list(jobs.values()).count("producer"), "a producer has no end to report"


def submit(stack: Stack) -> str:
    """Submit a job that prints nothing into Kafka, and ends with exit code 0 once the file `go` is there."""
    job = stack.slurm.submit(f"until test -e {stack.scratch}/go; do sleep 0.1; done", "--output=/dev/null")
    stack.jobs.append(job)
    return job


def started(stack: Stack, job: str) -> bool:
    asked = "SELECT count() FROM job_events WHERE job = {job:String} AND kind = 'started' AND scheduler = 'slurm'"
    return bool(stack.sql(asked, job=job)[0][0])


def decisions(stack: Stack, job: str) -> int:
    return int(stack.sql("SELECT count() FROM decisions WHERE job = {job:String}", job=job)[0][0])


def results(stack: Stack, job: str) -> list[str]:
    return [row[0] for row in stack.sql("SELECT outcome FROM decision_results WHERE job = {job:String}", job=job)]


def verdicts(stack: Stack, job: str) -> list[tuple[str, bool]]:
    asked = "SELECT error_type, final FROM failures WHERE job = {job:String} ORDER BY revision"
    return [(kind, final) for kind, final in stack.sql(asked, job=job)]
