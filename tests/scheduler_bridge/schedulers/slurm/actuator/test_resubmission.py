"""Jobs that a real Slurm cannot start again: they are submitted again, once, and budgets follow them."""

import os
import pwd
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from schedmate_records import Action, Decision, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers import ActuatorError, SchedulerJobState
from scheduler_bridge.schedulers.slurm.actuator import Resubmission, SlurmActuator
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from scheduler_bridge.schedulers.slurm.client.kept_jobs import KeptJobs
from scheduler_bridge.schedulers.slurm.client.submission import submit
from scheduler_bridge.schedulers.slurm.events.watcher import Keeper
from tests.scheduler_bridge.findings import Written
from tests.servers.slurm import Slurm, running
from tests.waiting import until

pytestmark = pytest.mark.slurm

OPTIONS = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT), actions_per_hour=1000, user_share=1.0)
KEY = "restart/0123456789abcdef"


@pytest.fixture(scope="module")
def forgetful() -> Iterator[Slurm]:
    """A Slurm that forgets jobs two seconds after their end."""
    with running(min_job_age=2) as cluster:
        yield cluster


class KeptJobsSite:
    """A keeper and an actuator with a memory of scripts."""

    def __init__(self, slurm: Slurm, directory: Path) -> None:
        self.slurm = slurm
        self.client = SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)}))
        self.kept = KeptJobs(directory)
        self.keeper = Keeper(self.client, self.kept)
        self.submitted: list[str] = []

    def actuator(self) -> SlurmActuator:
        environment = {"SLURM_CONF": str(self.slurm.configuration)}
        sbatch = partial(submit, environment=environment)

        def counted(script: bytes, words: list[str], user: str) -> str:
            self.submitted.append(sbatch(script, words, user))
            return self.submitted[-1]

        return SlurmActuator(self.client, resubmission=Resubmission(self.client, self.kept, counted))  # type: ignore[arg-type]

    def keep(self, job: str, state: str) -> None:
        self.slurm.wait(job, state)
        deadline = time.monotonic() + 30
        while not self.kept.get(job):  # a look that Slurm does not answer in time is repeated, as the watcher does
            assert time.monotonic() < deadline
            self.keeper.look(self.client.jobs())

    def forget(self, job: str) -> None:
        """Wait until Slurm has forgotten a job. It looks for old jobs every half minute."""
        until(lambda: "Invalid job id" in self.slurm.run("scontrol", "show", "job", job, check=False), 90)


def decided(job: str, attempt: int = 0) -> Decision:
    now = time.time()
    return Decision(
        id=f"restart/{job}/{attempt}",
        attempt=attempt,
        action=Action.RESTART,
        job=job,
        time=now,
        expires=now + 600,
        mode=Mode.ACT,
        policy="p",
        reason="r",
        cause="c",
    )


def test_a_job_that_slurm_forgot_starts_again_from_its_script_with_its_options(
    forgetful: Slurm, tmp_path: Path
) -> None:
    site = KeptJobsSite(forgetful, tmp_path)
    marker = tmp_path / "ran"
    script = f'echo "$SLURM_JOB_NAME $SLURM_CPUS_PER_TASK $SLURM_ARRAY_TASK_ID $SLURM_JOB_PARTITION" >> {marker}; test -e {tmp_path}/well'
    chosen = ("--job-name=a b", "--cpus-per-task=2", "--array=3", "--partition=urgent", "--gres=shard:2", "--time=5")
    array = forgetful.submit(script, *chosen, "--output=out-%A_%a", "--comment=mine")
    site.keep(f"{array}_3", "FAILED")
    site.forget(f"{array}_3")
    (tmp_path / "well").touch()
    actuator, written = site.actuator(), Written()
    before = actuator.job(f"{array}_3")
    assert before
    assert (before.state, before.attempt) == (SchedulerJobState.FAILED, 0)
    bridge = Bridge(actuator, OPTIONS, written)
    bridge.accept(decided(f"{array}_3"))
    bridge.advance()
    assert written.outcomes == [Outcome.STARTED, Outcome.DONE], written.results
    successor = written.results[-1].seen["successor"]
    assert successor == f"{site.submitted[0]}_3"
    fields = forgetful.wait(successor, "COMPLETED")
    assert marker.read_text().splitlines() == ["a b 2 3 urgent"] * 2
    assert (fields["TresPerNode"], fields["TimeLimit"], fields["WorkDir"]) == (
        "gres:shard:2",
        "00:05:00",
        str(forgetful.directory),
    )
    assert fields["StdOut"].endswith(f"/out-{site.submitted[0]}_3")
    assert "mine" in site.client.comment(successor)


def test_a_no_requeue_job_is_submitted_once_by_whoever_comes_after_a_crash(forgetful: Slurm, tmp_path: Path) -> None:
    site = KeptJobsSite(forgetful, tmp_path)
    job = forgetful.submit("exit 1", "--no-requeue", "--output=/dev/null")
    site.keep(job, "FAILED")
    first = site.actuator().restart(job, ("n1",), KEY)
    assert (first.attempt, first.excluded, first.job) == (1, ("n1",), job)
    # What a bridge that was killed right after sbatch did not write down.
    known = site.kept.get(job)
    assert known
    (tmp_path / f"{job}.json").unlink()
    KeptJobsSite(forgetful, tmp_path).keeper.look(site.client.jobs())
    again = site.actuator()
    seen = again.job(job)
    assert seen
    assert (seen.successor, seen.attempt) == (site.submitted[0], 1)
    assert again.restart(job, ("n1",), KEY).successor == site.submitted[0]
    assert len(site.submitted) == 1


def test_budgets_follow_a_job_to_its_new_ids(forgetful: Slurm, tmp_path: Path) -> None:
    site, written = KeptJobsSite(forgetful, tmp_path), Written()
    bridge = Bridge(site.actuator(), OPTIONS, written)
    first = forgetful.submit("exit 1", "--no-requeue", "--output=/dev/null")
    site.keep(first, "FAILED")
    bridge.accept(decided(first))
    bridge.advance()
    second = written.results[-1].seen["successor"]
    for attempt in (0, 1):
        deadline = time.monotonic() + 30
        while forgetful.wait(second, "FAILED")["Restarts"] != str(attempt):
            assert time.monotonic() < deadline
        bridge.accept(decided(second, attempt))
        bridge.advance()
    outcomes = [each for each in written.outcomes if each is not Outcome.STARTED]
    assert outcomes == [Outcome.DONE, Outcome.DONE, Outcome.REFUSED], written.results
    assert "budget" in written.results[-1].detail


@pytest.mark.skipif(os.geteuid() != 0, reason="only root submits for others")
def test_a_job_comes_back_as_its_users_and_nothing_of_ours_comes_with_it(
    forgetful: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = pwd.getpwnam("nobody")
    seen = forgetful.directory / "seen"
    seen.touch()
    os.chown(seen, nobody.pw_uid, nobody.pw_gid)
    done = subprocess.run(
        [
            "sbatch",
            "--parsable",
            "--no-requeue",
            "--output=/dev/null",
            "--chdir=/",
            f"--wrap=env > {seen}; id -u >> {seen}; exit 1",
        ],
        env=forgetful.environment,
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    job = done.stdout.strip()
    site = KeptJobsSite(forgetful, tmp_path)
    site.keep(job, "FAILED")
    seen.write_text("")
    monkeypatch.setenv("SCHEDMATE_KAFKA__PASSWORD", "a secret")
    successor = site.actuator().restart(job, (), KEY).successor
    assert forgetful.wait(successor, "FAILED")["UserId"] == f"nobody({nobody.pw_uid})"
    lines = seen.read_text().splitlines()
    assert lines[-1] == str(nobody.pw_uid)
    assert not [line for line in lines if "SCHEDMATE" in line or "secret" in line]


def test_without_a_kept_script_a_person_is_asked(forgetful: Slurm, tmp_path: Path) -> None:
    site = KeptJobsSite(forgetful, tmp_path)
    assert site.actuator().job("999999") is None
    with pytest.raises(ActuatorError, match="by hand"):
        site.actuator().restart("999999", (), KEY)
