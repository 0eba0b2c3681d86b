"""Spot jobs on a real Slurm and a real Kafka: quotas come, who is beyond is held and let go, and jobs of high priority get their place."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schedmate_records import Action, Decision, Outcome, Quota, decode
from schedmate_records import DecisionResult as Result
from streams.kafka import read_back
from tests.servers.kafka import Kafka
from tests.servers.slurm import Slurm, running
from tests.streams.runtimes.workers import command, start, until

pytestmark = [pytest.mark.kafka, pytest.mark.slurm, pytest.mark.slow]

GPU, TWO_NODES = "--gres=gpu:1", ("--nodes=2", "--gres=gpu:2")
SETTINGS = {
    "SCHEDMATE_BRIDGE__MODES": "evict=act,hold=act,release=act",
    "SCHEDMATE_BRIDGE__EVICT_FOR": "partition=urgent",
    "SCHEDMATE_BRIDGE__EVICTABLE": "partition=p",
    "SCHEDMATE_BRIDGE__EVICT_WAIT_SECONDS": "0",
    "SCHEDMATE_BRIDGE__EVICT_GRACE_SECONDS": "0",
    "SCHEDMATE_BRIDGE__USER_SHARE": "1",
    "SCHEDMATE_SPOT__ORGANISATION": "partition",
    "SCHEDMATE_SPOT__UPDATE_SECONDS": "6",  # a hold expires after that, and is not decided again: a busy host needs seconds
    "SCHEDMATE_SPOT__LOOK_SECONDS": "0.5",
}


@pytest.fixture
def own_slurm() -> Iterator[Slurm]:
    with running() as cluster:
        yield cluster


def quotas(kafka: Kafka) -> list[Quota]:
    return [decode(Quota, message.value) for message in read_back(kafka.connection, ["quotas"])]


def newest(kafka: Kafka, holds: Callable[[Quota], bool], log: Path) -> Quota:
    """Return the first newest quota of which that is so."""
    found: list[Quota] = []

    def look() -> bool:
        found[:] = quotas(kafka)[-1:]
        return bool(found) and holds(found[0])

    until(look, log)
    return found[0]


def submit(slurm: Slurm, *options: str, partition: str = "p") -> str:
    return slurm.submit("sleep 600", f"--partition={partition}", "--output=/dev/null", *options)


@pytest.mark.timeout(400)
def test_spot_jobs_are_bounded_held_let_go_and_evicted(own_kafka: Kafka, own_slurm: Slurm, tmp_path: Path) -> None:
    slurm, log = own_slurm, tmp_path / "spot.log"
    environment = {**SETTINGS, "SLURM_CONF": str(slurm.configuration)}
    high = submit(slurm, GPU, partition="urgent")
    spot = [submit(slurm, GPU) for _ in range(4)]
    for job in (high, *spot):
        slurm.wait(job, "RUNNING")
    first = start(own_kafka, "spot", log=log, **environment)
    try:
        quota = newest(own_kafka, lambda quota: quota.quota is not None, log)
    finally:
        first.kill()
        first.wait()
    # Six GPUs, one of which has priority: five are left, and one is idle and four have spot jobs.
    assert (quota.capacity, quota.idle, quota.in_use, quota.spot_in_use) == (6, 1, 1, 4)
    assert (quota.quota, quota.available, quota.safety, quota.forecaster) == (5, 5, 1, "present")
    assert [(each.organisation, each.in_use) for each in quota.organisations] == [("urgent", 1)]

    with (
        command(own_kafka, "bridge", log=tmp_path / "bridge.log", **environment),
        command(own_kafka, "spot", log=log, **environment),
    ):
        gang = submit(slurm, *TWO_NODES)
        # Four more do not fit into five: they are held.
        until(lambda: slurm.fields(gang)["Reason"] == "JobHeldAdmin", log, 180)  # the bridge starts meanwhile
        held = newest(own_kafka, lambda quota: any(each.held for each in quota.beyond), log)
        assert [(each.job, each.gpus, each.fits) for each in held.beyond] == [(gang, 4, False)]
        slurm.run("scancel", *spot)
        slurm.wait(gang, "RUNNING")

        urgent = submit(slurm, "--gres=gpu:2", partition="urgent")
        slurm.wait(urgent, "RUNNING")
        assert slurm.fields(gang)["Restarts"] == "1"
        cautious = newest(own_kafka, lambda quota: bool(quota.eviction_rate) and quota.in_use == 3, log)
        assert cautious.safety < 1

    assert slurm.fields(high)["Restarts"] == slurm.fields(urgent)["Restarts"] == "0"
    results = [decode(Result, message.value) for message in read_back(own_kafka.connection, ["decision-results"])]
    done = [(result.action, result.job) for result in results if result.outcome is Outcome.DONE]
    assert done[:3] == [(Action.HOLD, gang), (Action.RELEASE, gang), (Action.EVICT, gang)]
    assert {job for _, job in done} == {gang}, "nothing else was touched"
    told = quotas(own_kafka)
    assert len({quota.id for quota in told}) == len(told), "each interval has one quota, though one was killed"
    assert not list(read_back(own_kafka.connection, ["dead-letters"]))


@pytest.mark.timeout(400)
def test_tasks_of_an_array_are_held_and_let_go_one_by_one(own_kafka: Kafka, own_slurm: Slurm, tmp_path: Path) -> None:
    slurm, log = own_slurm, tmp_path / "spot.log"
    environment = {**SETTINGS, "SLURM_CONF": str(slurm.configuration)}
    high = [submit(slurm, GPU, partition="urgent") for _ in range(4)]
    for job in high:
        slurm.wait(job, "RUNNING")
    sweep = submit(slurm, GPU, "--array=1-4")
    for task in (1, 2):
        slurm.wait(f"{sweep}_{task}", "RUNNING")
    with (
        command(own_kafka, "bridge", log=tmp_path / "bridge.log", **environment),
        command(own_kafka, "spot", log=log, **environment),
    ):
        until(lambda: all(slurm.fields(f"{sweep}_{task}")["Reason"] == "JobHeldAdmin" for task in (3, 4)), log, 180)
        slurm.run("scancel", high[0])
        slurm.wait(f"{sweep}_3", "RUNNING")
    assert slurm.fields(f"{sweep}_4")["Reason"] == "JobHeldAdmin"
    results = [decode(Result, message.value) for message in read_back(own_kafka.connection, ["decision-results"])]
    done = [(result.action, result.job) for result in results if result.outcome is Outcome.DONE]
    assert sorted(done[:2]) == [(Action.HOLD, f"{sweep}_3"), (Action.HOLD, f"{sweep}_4")]
    assert done[2:] == [(Action.RELEASE, f"{sweep}_3")]


def test_in_shadow_nothing_is_touched(own_kafka: Kafka, own_slurm: Slurm, tmp_path: Path) -> None:
    slurm, log = own_slurm, tmp_path / "spot.log"
    environment = {**SETTINGS, "SCHEDMATE_BRIDGE__MODES": "hold=act", "SLURM_CONF": str(slurm.configuration)}
    high = [submit(slurm, GPU, partition="urgent") for _ in range(6)]
    for job in high:
        slurm.wait(job, "RUNNING")
    with (
        command(own_kafka, "bridge", log=tmp_path / "bridge.log", **environment),
        command(own_kafka, "spot", log=log, **environment),
    ):
        beyond = submit(slurm, GPU)
        newest(own_kafka, lambda quota: [each.job for each in quota.beyond] == [beyond], log)
        until(lambda: bool(list(read_back(own_kafka.connection, ["decision-results"]))), log)
    [decision] = [decode(Decision, message.value) for message in read_back(own_kafka.connection, ["decisions"])]
    [result] = [decode(Result, message.value) for message in read_back(own_kafka.connection, ["decision-results"])]
    # `hold` is on, and `release` is not: who could not be let go is not held.
    assert (decision.action, decision.job, decision.mode, result.outcome) == (
        "hold",
        beyond,
        "shadow",
        Outcome.SHADOWED,
    )
    assert "quota of spot jobs is 0 GPUs" in decision.reason
    assert slurm.fields(beyond)["JobState"] == "PENDING"
    assert slurm.fields(beyond)["Reason"] != "JobHeldAdmin"


def test_a_scheduler_that_is_away_gives_no_quota(own_kafka: Kafka, own_slurm: Slurm, tmp_path: Path) -> None:
    log = tmp_path / "spot.log"
    nowhere = tmp_path / "slurm.conf"
    nowhere.write_text(own_slurm.configuration.read_text().replace("SlurmctldPort=", "SlurmctldPort=1"))
    with command(own_kafka, "spot", log=log, **SETTINGS, SLURM_CONF=str(nowhere)):
        quota = newest(own_kafka, lambda _: True, log)
    assert (quota.quota, quota.capacity) == (None, None)
    assert "does not answer" in quota.reason
