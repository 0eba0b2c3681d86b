"""Evictions for jobs that wait, on a real Slurm."""

import os
import pwd
import time
from collections.abc import Iterator

import msgspec
import pytest

from schedmate_records import Action, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands, json_list
from scheduler_bridge.selectors import Selector
from tests.scheduler_bridge.findings import Written, checkpoint, failure
from tests.servers.slurm import Slurm
from tests.waiting import until

pytestmark = pytest.mark.slurm

SETTINGS = BridgeSettings(
    modes=dict.fromkeys(Action, Mode.ACT),
    evict_for=(Selector.parse("partition=urgent"),),
    evictable=(Selector.parse("partition=p"),),
    evict_wait_seconds=0.0,
    evict_grace_seconds=0.0,
    evict_yield_seconds=5.0,
)
GPU = "--gres=shard:4"
PATH = "/scratch/run 1/step_500"
SAYS = 'squeue --noheader --jobs=$SLURM_JOB_ID --Format=comment:1100 | sed -n "s/.*schedmate-checkpoint=\\([^ ]*\\).*/\\1/p"'
"""What docs/slurm.md shows."""


@pytest.fixture
def actuator(slurm: Slurm) -> SlurmActuator:
    return SlurmActuator(SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})))


@pytest.fixture
def full(slurm: Slurm) -> Iterator[list[str]]:
    """A cluster whose six GPUs are taken."""
    jobs = [slurm.submit("sleep 60", GPU) for _ in range(6)]
    for job in jobs:
        slurm.wait(job, "RUNNING")
    yield jobs
    slurm.run("scancel", *slurm.run("squeue", "-h", "-a", "-o", "%F").split())


def step(bridge: Bridge, slurm: Slurm, job: str, state: str) -> None:
    """Let the bridge work until a job is in a state."""
    deadline = time.monotonic() + 20
    while slurm.fields(job)["JobState"] != state:
        assert time.monotonic() < deadline, (slurm.fields(job), slurm.log())
        bridge.advance()
        time.sleep(0.05)


def test_one_that_waits_gets_the_place_of_who_loses_least(
    slurm: Slurm, actuator: SlurmActuator, full: list[str]
) -> None:
    written = Written()
    bridge = Bridge(actuator, SETTINGS, written)
    bridge.accept(checkpoint(full[3], time.time()))
    high = slurm.submit("sleep 60", GPU, "--partition=urgent")
    step(bridge, slurm, high, "RUNNING")
    assert [decision.job for decision in written.decisions] == [full[3]]
    assert [slurm.fields(job)["Restarts"] for job in full] == ["0", "0", "0", "1", "0", "0"]
    slurm.run("scancel", full[0])
    step(bridge, slurm, full[3], "RUNNING")
    assert written.outcomes == [Outcome.STARTED, Outcome.DONE]


def test_each_task_of_an_array_gets_a_place(slurm: Slurm, actuator: SlurmActuator, full: list[str]) -> None:
    written = Written()
    bridge = Bridge(actuator, SETTINGS, written)
    array = slurm.submit("sleep 60", GPU, "--partition=urgent", "--array=1-9%2")
    step(bridge, slurm, f"{array}_2", "RUNNING")
    for _ in range(20):
        bridge.advance()
    assert slurm.fields(f"{array}_1")["JobState"] == "RUNNING"
    assert len({decision.job for decision in written.decisions}) == 2, "two tasks run at once, and no more"
    assert {decision.beneficiary for decision in written.decisions} == {f"{array}_1", f"{array}_2"}


def test_several_nodes_at_once(slurm: Slurm, actuator: SlurmActuator, full: list[str]) -> None:
    written = Written()
    bridge = Bridge(actuator, SETTINGS, written)
    places = {job: slurm.fields(job)["NodeList"] for job in full}
    gang = slurm.submit("sleep 60", "--gres=shard:4", "--nodes=2", "--exclude=n2", "--partition=urgent")
    step(bridge, slurm, gang, "RUNNING")
    assert sorted(places[decision.job] for decision in written.decisions) == ["n1", "n3"]


def test_who_must_not_be_requeued_or_waits_for_another_reason(
    slurm: Slurm, actuator: SlurmActuator, full: list[str]
) -> None:
    slurm.run("scancel", full[5])
    stubborn = slurm.submit("sleep 60", GPU, "--no-requeue")
    slurm.wait(stubborn, "RUNNING")
    slurm.submit("sleep 60", GPU, "--partition=urgent", f"--dependency=afterok:{full[0]}")
    written = Written()
    bridge = Bridge(actuator, SETTINGS, written)
    bridge.advance()
    assert not written.decisions
    queue = actuator.queue()
    assert {job.view.job for job in queue.running if not job.requeueable} == {stubborn}
    assert [job.blocked for job in queue.waiting] == [False]


def test_hidden_partitions_are_seen_and_text_and_json_agree(slurm: Slurm, full: list[str]) -> None:
    hidden = slurm.submit("sleep 60", "--partition=hidden", "--account=lab", "--mem=100")
    slurm.wait(hidden, "RUNNING")
    commands = SlurmCommands({"SLURM_CONF": str(slurm.configuration)})
    jobs = SlurmClient(commands).jobs()
    listed = {job.job: job for job in json_list.parse(commands("squeue", "--json"))}
    assert {*full, hidden} <= jobs.keys()
    for job in (*full, hidden):
        assert listed[job] == jobs[job]


def test_a_job_that_starts_again_learns_its_checkpoint(slurm: Slurm, actuator: SlurmActuator) -> None:
    told = slurm.submit(f'{SAYS}; test -n "$SLURM_RESTART_COUNT"', "--comment=theirs")
    slurm.wait(told, "FAILED")
    written = Written()
    bridge = Bridge(actuator, BridgeSettings.model_validate({**dict(SETTINGS), "evict_for": ()}), written)
    strange, plain = (
        msgspec.structs.replace(checkpoint(told, at), path=path) for at, path in ((1.0, PATH), (2.0, "/run/500"))
    )
    bridge.accept(strange)
    bridge.accept(plain)
    now = time.time()
    bridge.accept(failure(job=told, time=now, node="n1"))
    assert written.decisions[-1].checkpoint == "/run/500"
    bridge.advance()
    slurm.wait(told, "COMPLETED")
    assert (slurm.directory / f"slurm-{told}.out").read_text().split() == ["/run/500"]
    assert slurm.fields(told)["Comment"] == "theirs"


def test_nobody_goes_in_vain_for_want_of_a_feature_or_into_a_reservation(
    slurm: Slurm, actuator: SlurmActuator, full: list[str]
) -> None:
    at = {job: slurm.fields(job)["NodeList"] for job in full}
    slurm.run("scontrol", "update", "NodeName=n2", "AvailableFeatures=fast", "ActiveFeatures=fast")
    user = pwd.getpwuid(os.geteuid()).pw_name
    where = ("ReservationName=class", "Flags=IGNORE_JOBS", "Nodes=n3", f"Users={user}")
    slurm.run("scontrol", "create", "reservation", *where, "StartTime=now", "Duration=UNLIMITED")
    try:
        commands = SlurmCommands({"SLURM_CONF": str(slurm.configuration)})
        client = SlurmClient(commands)
        deadline = time.monotonic() + 60
        while "RESERVED" not in client.nodes()["n3"].states:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        wants = slurm.submit("sleep 60", GPU, "--partition=urgent", "--constraint=fast")
        written = Written()
        bridge = Bridge(actuator, SETTINGS, written)
        step(bridge, slurm, wants, "RUNNING")
        assert [at[decision.job] for decision in written.decisions] == ["n2"]
        inside = slurm.submit("sleep 60", "--gres=gpu", "--partition=urgent", "--reservation=class")

        def is_listed_as_shown() -> bool:
            listed = {job.job: job for job in json_list.parse(commands("squeue", "--json"))}
            return all(listed[job] == client.job(job) for job in (wants, inside))

        until(is_listed_as_shown)  # a job may start between both
        assert (client.job(wants).features, client.job(inside).reservation) == ("fast", "class")
    finally:
        slurm.run("scancel", "--partition=urgent")
        deadline = time.monotonic() + 20
        while slurm.run("squeue", "-h", "-a", "--partition=urgent", "-o", "%i").strip():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        slurm.run("scontrol", "delete", "ReservationName=class")
        slurm.run("scontrol", "update", "NodeName=n2", "AvailableFeatures=", "ActiveFeatures=")
