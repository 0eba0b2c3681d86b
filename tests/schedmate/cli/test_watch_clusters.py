"""The watcher and the bridge's actuator of a Slurm cluster beside the local one, as the command line makes them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from records import BY_NAME, JobEvent, decode
from schedmate.cli.bridge import actuator
from scheduler_bridge import BridgeSettings
from scheduler_bridge.actuators import SchedulerJobState
from streams.kafka import read_back
from tests.schedmate.forked import run_forked
from tests.servers.kafka import Kafka
from tests.servers.slurm_clusters import OTHER, SlurmClusters

COMMAND = [sys.executable, "-c", "from schedmate.cli import main; main()", "watch-scheduler", "slurm"]
KEY = "restart/0123456789abcdef"


def test_a_cluster_that_is_none_of_the_settings_is_refused() -> None:
    environment = {**os.environ, "SCHEDMATE_CONFIG": os.devnull, "SCHEDMATE_SLURM__CLUSTERS": "beta,delta"}
    done = run_forked("watch-scheduler", "slurm", "--cluster", "gamma", env=environment)
    assert done.returncode == 2
    assert b"expected one of slurm.clusters (beta, delta), got --cluster gamma" in done.stderr


@pytest.mark.kafka
@pytest.mark.slurm
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_job_that_was_kept_of_the_other_cluster_starts_again_there(
    kafka: Kafka, slurm_clusters: SlurmClusters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = slurm_clusters.local.environment | {
        "SCHEDMATE_CONFIG": os.devnull,
        "SCHEDMATE_KAFKA__BROKERS": kafka.address,
        "SCHEDMATE_SLURM__CLUSTERS": OTHER,
        "SCHEDMATE_PRODUCER__DIRECTORY": str(tmp_path / "state"),
        "SCHEDMATE_BRIDGE__KEPT_JOBS_DIRECTORY": str(tmp_path / "jobs"),
    }
    with (tmp_path / "log").open("ab") as log:
        command = [*COMMAND, "--cluster", OTHER, "--interval", "0.2"]
        watcher = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        number = slurm_clusters.same_number('echo "$SLURM_JOB_ID" >> ran; exit 3', "--no-requeue", "--comment=mine")
        slurm_clusters.other.wait(number, "FAILED")
        name = f"{OTHER}/{number}"
        until(lambda: "ended" in kinds(kafka, name), tmp_path)
    finally:
        watcher.send_signal(signal.SIGTERM)
        watcher.wait(30)
    assert kinds(kafka, name) == ["submitted", "started", "ended"]
    assert (tmp_path / "state" / f"slurm-events-{OTHER}.json").exists()

    monkeypatch.setenv("SLURM_CONF", str(slurm_clusters.local.configuration))
    scheduler = actuator(BridgeSettings(kept_jobs_directory=tmp_path / "jobs"), [OTHER])
    before = slurm_clusters.local.run("squeue", "--noheader", "--states=all", "--format=%i").split()
    seen = scheduler.restart(name, ("m1",), KEY)
    assert (seen.job, seen.attempt, seen.excluded) == (name, 1, ("m1",))
    cluster, _, successor = seen.successor.partition("/")
    after = slurm_clusters.other.wait(successor, "FAILED")
    assert (cluster, after["NodeList"]) == (OTHER, "m2")
    assert after["Comment"].startswith(f"schedmate-continues={number}:")
    assert (slurm_clusters.other.directory / "ran").read_text().split() == [number, successor]
    again = scheduler.job(name)
    assert again
    assert (again.state, again.successor) == (SchedulerJobState.FAILED, seen.successor)
    assert scheduler.restart(name, ("m1",), KEY).successor == seen.successor
    # The local job of that number was not kept, and nothing was submitted here.
    assert slurm_clusters.local.run("squeue", "--noheader", "--states=all", "--format=%i").split() == before


def kinds(kafka: Kafka, job: str) -> list[str]:
    topic = "job-events"
    events = [decode(BY_NAME[topic].record, message.value) for message in read_back(kafka.connection, [topic])]
    return [str(event.kind) for event in events if isinstance(event, JobEvent) and event.job == job]


def until(ready: Callable[[], bool], directory: Path, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, (directory / "log").read_text()
        time.sleep(0.1)
