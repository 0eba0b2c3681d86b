"""When jobs that wait will start: of what a scheduler shows, and on a real Slurm."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from schedmate.advisor.starts import Expected, present
from schedmate.simulate.starts import start_ranges
from schedmate_records import StartEstimate, decode
from scheduler_bridge.schedulers import JobView
from scheduler_bridge.schedulers.queue import Capacity, Need, Queue, RunningJob, Share, WaitingJob
from scheduler_bridge.schedulers.views import NodeView, SchedulerJobState, SchedulerNodeState
from streams.kafka import read_back
from tests.servers.kafka import Kafka
from tests.servers.slurm import Slurm
from tests.streams.runtimes.workers import command, until

NOW = 1_000_000.0


def node(name: str, pool: str = "p", state: SchedulerNodeState = SchedulerNodeState.UP) -> Capacity:
    return Capacity(NodeView(name, state, (pool,)), cpus=16, memory=4000, gpus=2)


def runs(job: str, on: str, gpus: float, since: float = 600.0, limit: float | None = None) -> RunningJob:
    view = JobView(job, SchedulerJobState.RUNNING, nodes=(on,), partition="p", limit_s=limit)
    return RunningJob(view, NOW - since, {on: Share(1, 0, dict.fromkeys(range(int(gpus)), 1.0))})


def waits(
    job: str, gpus: float, *, priority: int = 1, since: float = NOW, word: str = "PENDING (Resources)", **need: Any
) -> WaitingJob:
    view = JobView(job, SchedulerJobState.PENDING, priority=priority, word=word, partition="p", limit_s=600.0)
    return WaitingJob(view, since, Need(gpus=gpus, cpus=1, **need), blocked=True)


def starts(queue: Queue, **known: Expected) -> dict[str, float]:
    ranges = start_ranges(present(queue, lambda view: known.get(view.job), NOW), futures=40)
    return {each.job: each.expected for each in ranges}


def test_a_rest_that_was_told_counts_from_when_it_was_told() -> None:
    rest = Expected(300.0, 299.0, 301.0, time=NOW - 100, whole=False)
    found = starts(Queue((waits("w", 2),), (runs("r", "n1", 2),), (node("n1"),)), r=rest)
    assert found["w"] == pytest.approx(200, abs=2)


def test_of_a_whole_duration_what_has_passed_is_gone() -> None:
    whole = Expected(900.0, 899.0, 901.0, time=NOW - 5000, whole=True)
    found = starts(Queue((waits("w", 2),), (runs("r", "n1", 2),), (node("n1"),)), r=whole)
    assert found["w"] == pytest.approx(300, abs=2)


def test_who_outlasts_its_estimate_is_bounded_by_its_limit_alone() -> None:
    past = Expected(100.0, 90.0, 110.0, time=NOW - 5000, whole=True)
    queue = Queue((waits("w", 2),), (runs("r", "n1", 2, limit=1000),), (node("n1"),))
    (found,) = start_ranges(present(queue, lambda _: past, NOW), futures=100)
    assert found.low < 100
    assert found.high == pytest.approx(400)


def test_priority_goes_first_then_age() -> None:
    queue = Queue(
        (waits("young", 2, since=NOW - 1), waits("old", 2, since=NOW - 9), waits("high", 2, priority=9)),
        (),
        (node("n1"),),
    )
    found = starts(queue)
    assert found["high"] == 0 < found["old"] < found["young"]


def test_nodes_that_are_drained_excluded_or_of_another_partition_are_no_place() -> None:
    nodes = (node("n1", state=SchedulerNodeState.DRAINING), node("n2", pool="other"), node("n3"))
    found = starts(Queue((waits("one", 1, nodes=2), waits("named", 1, required=("n2",)), waits("fits", 1)), (), nodes))
    assert found == {"one": math.inf, "named": math.inf, "fits": 0}


def test_who_waits_for_something_else_is_not_foretold_and_who_begins_later_starts_then() -> None:
    queue = Queue(
        (waits("after", 1, word="PENDING (Dependency)"), waits("later", 1, since=NOW + 60)), (), (node("n1"),)
    )
    assert starts(queue) == {"after": math.inf, "later": 60}


@pytest.mark.slurm
class TestOnSlurm:
    """The command, beside a real Slurm whose six GPUs are taken."""

    @pytest.fixture
    def full(self, slurm: Slurm) -> Iterator[str]:
        for _ in range(6):
            slurm.wait(slurm.submit("sleep 300", "--gres=shard:4", "--time=10"), "RUNNING")
        waiting = slurm.submit("sleep 60", "--gres=shard:8", "--time=5")
        slurm.wait(waiting, "PENDING")
        yield waiting
        slurm.run("scancel", *slurm.run("squeue", "-h", "-a", "-o", "%i").split())

    @pytest.mark.kafka
    def test_what_was_said_is_kept_for_those_who_wait_no_longer(
        self, slurm: Slurm, full: str, own_kafka: Kafka
    ) -> None:
        site = slurm.environment | {
            "SCHEDMATE_CONFIG": os.devnull,
            "SCHEDMATE_REDIS__URL": "",
            "SCHEDMATE_KAFKA__BROKERS": own_kafka.address,
        }

        def printed(*options: str) -> dict[str, dict[str, Any]]:
            command = [sys.executable, "-m", "schedmate", "starts", "--json", *options]
            done = subprocess.run(command, env=site, capture_output=True, text=True, check=True)
            return {row["job"]: row for row in map(json.loads, done.stdout.splitlines())}

        assert printed("--keep", "--since", "2100-01-01") == {}
        row = printed("--keep", "--since", "1h")[full]
        (kept,) = (decode(StartEstimate, each.value) for each in read_back(own_kafka.connection, ["start-estimates"]))
        assert (kept.job, kept.attempt, kept.method) == (full, 0, "queue")
        assert (kept.expected_s, kept.low_s, kept.high_s, kept.chance) == (
            *(row[name] for name in ("expected_s", "low_s", "high_s", "chance")),
        )
        assert kept.time - 60 < datetime.fromisoformat(row["waits_since"]).timestamp() <= kept.time + 1

    @pytest.mark.kafka
    def test_the_service_tells_again_and_again_until_it_is_ended(
        self, slurm: Slurm, full: str, own_kafka: Kafka, tmp_path: Path
    ) -> None:
        log, nowhere = tmp_path / "starts.log", tmp_path / "slurm.conf"
        nowhere.write_text(slurm.configuration.read_text().replace("SlurmctldPort=", "SlurmctldPort=1"))
        site = {"SCHEDMATE_CONFIG": os.devnull, "SCHEDMATE_REDIS__URL": "", "SCHEDMATE_SERVICE__PORT": "0"}

        def published() -> list[StartEstimate]:
            return [decode(StartEstimate, each.value) for each in read_back(own_kafka.connection, ["start-estimates"])]

        with command(own_kafka, "starts", "--every", "1", log=log, **site, SLURM_CONF=str(slurm.configuration)) as one:
            until(lambda: len({each.time for each in published()}) >= 2, log)
            one.terminate()
            assert one.wait(60) == 0
        assert {each.job for each in published()} == {full}
        before = len(published())
        with command(own_kafka, "starts", "--every", "1", log=log, **site, SLURM_CONF=str(nowhere)) as blind:
            until(lambda: "dependency_unavailable" in log.read_text(), log)
            assert blind.poll() is None, "it waits for a scheduler that is away"
        assert len(published()) == before

    def test_limits_bound_the_range(self, slurm: Slurm, full: str) -> None:
        environment = slurm.environment | {"SCHEDMATE_CONFIG": os.devnull}
        command = [sys.executable, "-c", "from schedmate.cli import main; main()", "--set", "redis.url=", "starts"]
        done = subprocess.run(
            [*command, "--json", full],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        row = json.loads(done.stdout)
        assert (row["job"], row["chance"]) == (full, 1.0)
        assert 0 < row["low_s"] <= row["expected_s"] <= row["high_s"] <= 600
        table = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert "9 in 10 times between" in table
