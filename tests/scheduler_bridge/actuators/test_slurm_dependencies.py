"""Jobs that wait for a job that the bridge starts again, and jobs that wait themselves: what a real Slurm makes of their dependencies."""

import time
from collections.abc import Callable

import pytest

from scheduler_bridge.actuators.slurm import SlurmActuator
from scheduler_clients.slurm import SlurmClient, SlurmCommands
from tests.servers.slurm import Slurm

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

KEY = "0123456789abcdef"
KINDS = ("afterok", "afterany", "afternotok")


@pytest.fixture
def actuator(slurm: Slurm) -> SlurmActuator:
    return SlurmActuator(SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})))


def dependents(slurm: Slurm, job: str) -> dict[str, str]:
    return {kind: slurm.submit("true", f"--dependency={kind}:{job}") for kind in KINDS}


def until(ready: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.1)


def test_who_waits_for_a_job_that_is_evicted_waits_for_its_next_run(slurm: Slurm, actuator: SlurmActuator) -> None:
    go = slurm.directory / "go-on"
    job = slurm.submit(f"while test ! -e {go}; do sleep 0.1; done")
    waiting = dependents(slurm, job)
    slurm.wait(job, "RUNNING")
    actuator.evict(job, f"evict/{KEY}")
    slurm.wait(job, "RUNNING")
    assert {kind: slurm.fields(each)["Dependency"] for kind, each in waiting.items()} == {
        kind: f"{kind}:{job}(unfulfilled)" for kind in KINDS
    }
    go.touch()
    for kind in ("afterok", "afterany"):
        slurm.wait(waiting[kind], "COMPLETED", seconds=60)
    assert slurm.fields(waiting["afternotok"])["JobState"] == "PENDING"
    slurm.run("scancel", waiting["afternotok"])


def test_who_waits_for_the_success_of_a_job_that_failed_must_be_told_of_its_restart(
    slurm: Slurm, actuator: SlurmActuator
) -> None:
    job = slurm.submit('test -n "$SLURM_RESTART_COUNT"')
    waiting = dependents(slurm, job)
    slurm.wait(job, "FAILED")
    for kind in ("afterany", "afternotok"):
        slurm.wait(waiting[kind], "COMPLETED", seconds=60)
    until(lambda: slurm.fields(waiting["afterok"])["Reason"] == "DependencyNeverSatisfied")
    actuator.restart(job, (), f"restart/{KEY}")
    slurm.wait(job, "COMPLETED", seconds=60)
    stuck = slurm.fields(waiting["afterok"])
    assert (stuck["JobState"], stuck["Dependency"]) == ("PENDING", f"afterok:{job}(failed)")
    slurm.run("scontrol", "update", f"JobId={waiting['afterok']}", f"Dependency=afterok:{job}")
    slurm.wait(waiting["afterok"], "COMPLETED", seconds=60)


def test_a_job_that_waited_for_another_starts_again_without_waiting(slurm: Slurm, actuator: SlurmActuator) -> None:
    first = slurm.submit("true")
    job = slurm.submit('test -n "$SLURM_RESTART_COUNT" || sleep 60', f"--dependency=afterok:{first}")
    slurm.wait(job, "RUNNING", seconds=60)
    actuator.evict(job, f"evict/{KEY}")
    assert slurm.wait(job, "COMPLETED", seconds=60)["Restarts"] == "1"


def test_a_job_that_is_held_and_released_still_waits_for_the_other(slurm: Slurm, actuator: SlurmActuator) -> None:
    first = slurm.submit("sleep 600")
    job = slurm.submit("true", f"--dependency=afterok:{first}")
    actuator.hold(job, f"hold/{KEY}")
    actuator.release(job, f"release/{KEY}")
    until(lambda: slurm.fields(job)["Reason"] == "Dependency")
    assert slurm.fields(job)["Dependency"] == f"afterok:{first}(unfulfilled)"
    slurm.run("scancel", job, first)
