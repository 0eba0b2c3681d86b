"""Series of running jobs, from Redis."""

import time
from functools import partial

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from schedmate.services.sink import RunningJobs
from schedmate_records import EventKind, JobEvent, JobMetric, Position, Record
from sinks.redis.connect import open_redis
from sinks.redis.read_state import read_jobs
from sinks.redis.state import RedisState
from tests.servers.redis import redis_server

pytestmark = pytest.mark.redis

NOW = time.time()


def event(job: str, kind: EventKind, **fields: object) -> Record:
    return JobEvent(id=f"{job}/{kind}", job=job, kind=kind, time=NOW, scheduler="slurm", **fields)


def test_running_jobs_have_series_up_to_the_limit(tmp_path_factory: pytest.TempPathFactory) -> None:
    with redis_server(tmp_path_factory.mktemp("series")) as server:
        client = open_redis(server.url)
        records = [
            event("1", EventKind.STARTED, user="ada", name='odd "name"\n', gpus=8.0),
            JobMetric(id="m", job="1", time=NOW, step=7, step_time_s=0.5, loss=2.5),
            event("2", EventKind.STARTED, user="ben"),
            event("3", EventKind.STARTED, user="eve"),
            event("3", EventKind.ENDED, state="COMPLETED"),
        ]
        RedisState(client).update([(Position("t", 0, number), record) for number, record in enumerate(records)])
        registry = CollectorRegistry()
        registry.register(RunningJobs(partial(read_jobs, client), 10))
        shown = generate_latest(registry).decode()
        labels = r'{job="1",name="odd \"name\"\n",user="ada"}'
        assert f"schedmate_running_job_step{labels} 7.0" in shown
        assert f"schedmate_running_job_gpus{labels} 8.0" in shown
        assert 'schedmate_running_job_alarms{job="2",name="",user="ben"} 0.0' in shown
        assert 'schedmate_running_job_step{job="2"' not in shown, "a value that is not known has no series"
        assert 'job="3"' not in shown
        assert "schedmate_running_jobs_left_out 0.0" in shown
        few = CollectorRegistry()
        few.register(RunningJobs(partial(read_jobs, client), 1))
        shown = generate_latest(few).decode()
        assert shown.count("schedmate_running_job_alarms{") == 1
        assert "schedmate_running_jobs_left_out 1.0" in shown
    assert "schedmate_running_job_step{" not in generate_latest(registry).decode(), "Redis is away"
