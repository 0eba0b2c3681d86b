"""Jobs that wait for a job that the bridge starts again, and jobs that wait themselves: what a real Slurm makes of their dependencies."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from tests.servers.slurm import Slurm
from tests.waiting import until

from .test_resubmission import KeptJobsSite

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

KEY = "0123456789abcdef"
KINDS = ("afterok", "afterany", "afternotok")


@pytest.fixture
def actuator(slurm: Slurm) -> SlurmActuator:
    return SlurmActuator(SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})))


def dependents(slurm: Slurm, job: str) -> dict[str, str]:
    return {kind: slurm.submit("true", f"--dependency={kind}:{job}") for kind in KINDS}


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
        slurm.wait(waiting[kind], "COMPLETED")
    assert slurm.fields(waiting["afternotok"])["JobState"] == "PENDING"
    slurm.run("scancel", waiting["afternotok"])


def given_up(slurm: Slurm, job: str) -> Callable[[], bool]:
    return lambda: slurm.fields(job)["Reason"] == "DependencyNeverSatisfied"


def test_who_waits_for_the_success_of_a_job_that_failed_waits_for_its_next_run(
    slurm: Slurm, actuator: SlurmActuator
) -> None:
    job = slurm.submit('test -n "$SLURM_RESTART_COUNT"')
    other = slurm.submit("exit 1")
    waiting = dependents(slurm, job)
    array = slurm.submit("true", "--array=1-2", f"--dependency=afterok:{job}")
    hopeless = slurm.submit("true", f"--dependency=afterok:{other}:{job}")
    slurm.wait(job, "FAILED")
    for kind in ("afterany", "afternotok"):
        slurm.wait(waiting[kind], "COMPLETED")
    until(lambda: all(given_up(slurm, each)() for each in (waiting["afterok"], f"{array}_1", hopeless)))
    seen = actuator.restart(job, (), f"restart/{KEY}")
    assert set(seen.dependents) == {waiting["afterok"], array}
    assert seen.summary()["dependents"] == ",".join(seen.dependents)
    slurm.wait(job, "COMPLETED")
    for each in (waiting["afterok"], f"{array}_1", f"{array}_2"):
        slurm.wait(each, "COMPLETED")
    assert given_up(slurm, hopeless)()
    slurm.run("scancel", hopeless)


def test_who_waits_for_a_job_that_goes_on_under_another_id_waits_for_that(slurm: Slurm, tmp_path: Path) -> None:
    site = KeptJobsSite(slurm, tmp_path)
    well = tmp_path / "well"
    job = slurm.submit(f"test -e {well}", "--no-requeue", "--output=/dev/null")
    site.keep(job, "FAILED")
    waiting = slurm.submit("true", f"--dependency=afterok:{job}")
    until(given_up(slurm, waiting))
    well.touch()
    seen = site.actuator().restart(job, (), f"restart/{KEY}")
    assert (seen.dependents, seen.successor) == ((waiting,), site.submitted[0])
    slurm.wait(seen.successor, "COMPLETED")
    slurm.wait(waiting, "COMPLETED")


def test_a_job_that_waited_for_another_starts_again_without_waiting(slurm: Slurm, actuator: SlurmActuator) -> None:
    first = slurm.submit("true")
    job = slurm.submit('test -n "$SLURM_RESTART_COUNT" || sleep 60', f"--dependency=afterok:{first}")
    slurm.wait(job, "RUNNING")
    actuator.evict(job, f"evict/{KEY}")
    assert slurm.wait(job, "COMPLETED")["Restarts"] == "1"


def test_a_job_that_is_held_and_released_still_waits_for_the_other(slurm: Slurm, actuator: SlurmActuator) -> None:
    first = slurm.submit("sleep 600")
    job = slurm.submit("true", f"--dependency=afterok:{first}")
    actuator.hold(job, f"hold/{KEY}")
    actuator.release(job, f"release/{KEY}")
    until(lambda: slurm.fields(job)["Reason"] == "Dependency")
    assert slurm.fields(job)["Dependency"] == f"afterok:{first}(unfulfilled)"
    slurm.run("scancel", job, first)
