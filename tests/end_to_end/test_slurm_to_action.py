"""Real Slurm jobs, real Kafka, ClickHouse's engine, Redis: from what a job prints to what Slurm does."""

from pathlib import Path

import pytest

from schedmate.settings.settings import load
from sinks.redis.connect import open_redis
from sinks.redis.read_state import read_job
from tests.servers.clickhouse import ClickHouseServer
from tests.servers.kafka import Kafka
from tests.servers.redis import RedisServer
from tests.servers.slurm import Slurm

from .jobs import write
from .stack import Stack, running

pytestmark = [pytest.mark.kafka, pytest.mark.clickhouse, pytest.mark.redis, pytest.mark.slurm, pytest.mark.slow]

GPU = "shard:4"
HALF = "shard:2"


@pytest.mark.timeout(420)
def test_from_a_printed_line_to_an_action(
    own_kafka: Kafka, clickhouse: ClickHouseServer, redis_store: RedisServer, slurm: Slurm, tmp_path: Path
) -> None:
    programs = write(tmp_path / "programs")
    with running(own_kafka, clickhouse, redis_store, slurm, tmp_path) as stack:
        faulty = stack.submit(programs["faulty"], f"--gres={GPU}")
        buggy = stack.submit(programs["buggy"], f"--gres={GPU}")
        victim = stack.submit(programs["steady"], f"--gres={HALF}", "--nodelist=n3")
        stack.wait("the victim's own speed", lambda: measured_for(stack, victim) >= 30)
        slurm.wait(victim, "RUNNING")
        neighbour = stack.submit(programs["greedy"], f"--gres={HALF}", "--nodelist=n3")

        infrastructure_failure_runs_again_elsewhere(stack, faulty)
        bug_is_not_restarted(stack, buggy)
        neighbour_is_unpacked_and_the_victim_recovers(stack, victim, neighbour)
        redis_shows_the_present(redis_store, faulty)
        assert "concluded" in stack.log("bridge").read_text()
        assert stack.run("status", faulty)
        assert faulty in stack.run("decisions")


def measured_for(stack: Stack, job: str) -> float:
    """Return the seconds between the first and the newest step time of a job: its first steps share the cores with all that starts."""
    metrics = "FROM job_metrics WHERE job = {job:String} AND step_time_s > 0"
    return float(stack.sql(f"SELECT dateDiff('millisecond', min(time), max(time)) / 1000 {metrics}", job=job)[0][0])


def results(stack: Stack, job: str) -> list[tuple[str, str]]:
    rows = stack.sql("SELECT action, outcome FROM decision_results WHERE job = {job:String} ORDER BY time", job=job)
    return [(action, outcome) for action, outcome in rows]


def infrastructure_failure_runs_again_elsewhere(stack: Stack, job: str) -> None:
    stack.wait("the restart", lambda: ("restart", "done") in results(stack, job))
    fields = stack.slurm.wait(job, "COMPLETED")
    assert fields["Restarts"] == "1"
    verdicts = stack.sql(
        "SELECT error_type, faulty_component, restartable, node, root_text FROM failures WHERE job = {job:String} AND attempt = 0 "
        "ORDER BY revision DESC LIMIT 1",
        job=job,
    )
    ((error_type, component, restartable, node, text),) = verdicts
    assert (error_type, component, restartable) == ("infrastructure", "gpu", True)
    assert "Xid" in text
    assert node != fields["NodeList"], "it ran again elsewhere"
    assert results(stack, job).count(("restart", "done")) == 1


def bug_is_not_restarted(stack: Stack, job: str) -> None:
    fields = stack.slurm.wait(job, "FAILED")
    assert fields["Restarts"] == "0"
    verdict = stack.wait(
        "the verdict on the bug",  # the end may be told before the lines are read
        lambda: stack.sql(
            "SELECT error_type, restartable, message FROM failures WHERE job = {job:String} AND final AND error_type != 'unknown'",
            job=job,
        ),
    )
    assert verdict[0][:2] == ("user_script", False)
    assert "IndexError" in verdict[0][2]
    assert stack.sql("SELECT count() FROM decisions WHERE job = {job:String}", job=job) == [(0,)]


def neighbour_is_unpacked_and_the_victim_recovers(stack: Stack, victim: str, neighbour: str) -> None:
    stack.wait("the packing cancelled", lambda: ("cancel_packing", "done") in results(stack, neighbour))
    ((before, after, ratio),) = stack.sql(
        "SELECT DISTINCT before_s, after_s, ratio FROM slowdowns WHERE job = {job:String}", job=victim
    )
    assert ratio < 0.65
    assert after > before
    fields = stack.slurm.fields(neighbour)
    assert fields["TresPerNode"].endswith("shard:4"), "it will have a GPU to itself"

    def recovered() -> bool:
        newest = stack.sql(
            "SELECT step_time_s FROM job_metrics WHERE job = {job:String} AND step_time_s > 0 ORDER BY time DESC LIMIT 1",
            job=victim,
        )
        return bool(newest[0][0] < (before + after) / 2)

    stack.wait("the victim's recovery", recovered)


def redis_shows_the_present(redis_store: RedisServer, job: str) -> None:
    status = read_job(open_redis(redis_store.url), job, prefix=load().settings.redis.prefix)
    assert status is not None
    assert status.attempt == 1
