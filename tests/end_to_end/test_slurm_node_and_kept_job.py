"""The commands with their settings: a job that Slurm cannot requeue comes back, and a node is checked before it is drained."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from schedmate_records import Action, Decision, DecisionResult, Evidence, LogChunk, Mode, Outcome
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from streams.accept import accept
from streams.kafka import KafkaFollower
from tests.scheduler_bridge.schedulers.slurm.actuator.test_actions import clear
from tests.servers.kafka import Kafka
from tests.servers.slurm import Slurm
from tests.streams.runtimes.workers import send

pytestmark = [pytest.mark.kafka, pytest.mark.slurm, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def directory(own_kafka: Kafka, slurm: Slurm, tmp_path: Path) -> Iterator[Path]:
    """Where the commands, which run meanwhile, keep jobs (`jobs`) and bundles (`bundles`)."""
    environment = slurm.environment | {
        "SCHEDMATE_KAFKA__BROKERS": own_kafka.address,
        "SCHEDMATE_PRODUCER__DIRECTORY": str(tmp_path / "state"),
        "SCHEDMATE_BRIDGE__MODES": "restart=act,drain=act",
        "SCHEDMATE_BRIDGE__MAX_DRAINED_SHARE": "0.5",
        "SCHEDMATE_BRIDGE__MIN_NODES_LEFT": "1",
        "SCHEDMATE_BRIDGE__KEPT_JOBS_DIRECTORY": str(tmp_path / "jobs"),
        "SCHEDMATE_BRIDGE__BUNDLE_DIRECTORY": str(tmp_path / "bundles"),
        "SCHEDMATE_BRIDGE__NODE_CHECK": "/bin/sh -c 'echo GPU 3 is lost; exit 1'",
        "PYTHONPATH": str(ROOT),
    }
    client = SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)}))
    with ExitStack() as undo:
        undo.callback(clear, slurm, client)
        for command in (["watch-scheduler", "slurm", "--interval", "0.3"], ["bridge"]):
            with (tmp_path / f"{command[0]}.log").open("ab") as output:
                process = subprocess.Popen(
                    [sys.executable, "-m", "schedmate", *command],
                    env=environment,
                    cwd=ROOT,
                    stdout=output,
                    stderr=output,
                )
            undo.callback(process.wait, 30)
            undo.callback(os.kill, process.pid, signal.SIGTERM)
        yield tmp_path


def decided(action: Action, **about: object) -> Decision:
    now = time.time()
    fields = {
        "id": f"{action}/it",
        "action": action,
        "time": now,
        "expires": now + 600,
        "mode": Mode.ACT,
        "policy": "p",
        "reason": "r",
    }
    return Decision(**fields | about)  # type: ignore[arg-type]


def final(kafka: Kafka, decision: Decision, directory: Path) -> DecisionResult:
    follower = KafkaFollower(kafka.connection, ["decision-results"])
    deadline = time.monotonic() + 120
    try:
        while time.monotonic() < deadline:
            for result in map(accept, follower.new()):
                assert isinstance(result, DecisionResult)
                if result.decision_id == decision.id and result.outcome.final:
                    return result
            time.sleep(0.2)
    finally:
        follower.close()
    raise AssertionError("\n".join(log.read_text()[-2000:] for log in directory.glob("*.log")))


def test_what_operators_set_reaches_slurm(own_kafka: Kafka, slurm: Slurm, directory: Path) -> None:
    job = slurm.submit("exit 1", "--no-requeue", "--output=/dev/null", "--nodelist=n1")
    slurm.wait(job, "FAILED")
    deadline = time.monotonic() + 60
    while not (directory / "jobs" / f"{job}.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    restart = decided(Action.RESTART, job=job)
    send(own_kafka, [LogChunk(job=job, rank=3, lines=["NCCL WARN", "gone"], time=time.time()), restart])
    result = final(own_kafka, restart, directory)
    assert result.outcome is Outcome.DONE, result
    assert slurm.fields(result.seen["successor"])["ReqNodeList"] == "n1"
    drain = decided(Action.DRAIN, job=job, node="n3", node_evidence=True, evidence=_evidence(own_kafka, job))
    send(own_kafka, [drain])
    result = final(own_kafka, drain, directory)
    assert result.outcome is Outcome.DONE, result
    [bundle] = (directory / "bundles").iterdir()
    assert (bundle / "check.txt").read_text().startswith("the check failed (exit code 1): GPU 3 is lost")
    assert (bundle / f"job-{job}-0-rank-3-stdout.log").read_text() == "NCCL WARN\ngone\n"


def _evidence(kafka: Kafka, job: str) -> list[Evidence]:
    follower = KafkaFollower(kafka.connection, ["job-logs"])
    [place] = [each.position for each in follower.new() if each.key == job.encode()]
    follower.close()
    return [Evidence(topic="job-logs", partition=place.partition, offset=place.offset, line=1, text="NCCL WARN")]
