"""What is kept of jobs while Slurm has them, without a Slurm; `test_slurm_resubmission` has one."""

from dataclasses import replace
from pathlib import Path

from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmJob, SlurmUnavailable
from scheduler_bridge.schedulers.slurm.client.kept_jobs import KeptJobs
from scheduler_bridge.schedulers.slurm.events.watcher import ASKED, Keeper
from tests.scheduler_bridge.schedulers.slurm.client.test_het_job import FIRST

RUNNING = replace(FIRST, number="7", job="7", het_numbers=(), started=5.0)


class Answers:
    """Answers with a script, or nothing for job 3; is away where told so."""

    def __init__(self) -> None:
        self.away = False
        self.asked: list[str] = []

    def __call__(self, *command: str) -> str:
        if self.away:
            raise SlurmUnavailable("slurmctld to answer", "nothing", "")
        if command[0] == "scontrol":
            if command[3] == "3":
                return ""
            self.asked.append(command[3])
            Path(command[4]).write_bytes(b"#!/bin/sh\n")
        return ""


def jobs(*named: SlurmJob) -> dict[str, SlurmJob]:
    return {job.job: job for job in named}


def test_each_job_is_asked_for_once_and_its_end_is_kept(tmp_path: Path) -> None:
    slurm, kept = Answers(), KeptJobs(tmp_path)
    watched = Keeper(SlurmClient(slurm), kept)
    waiting, without = replace(RUNNING, job="2", started=None), replace(RUNNING, job="3")
    whole = replace(RUNNING, job="4", parts=(RUNNING,))
    for _ in range(3):
        watched.look(jobs(without, RUNNING, waiting, whole))
    assert slurm.asked == ["7"]
    watched.look(jobs(replace(RUNNING, state="FAILED")))
    found = kept.get("7")
    assert found
    assert (found.job.state, found.script, slurm.asked) == ("FAILED", b"#!/bin/sh\n", ["7"])


def test_a_controller_that_is_away_is_asked_again(tmp_path: Path) -> None:
    slurm, kept = Answers(), KeptJobs(tmp_path)
    watched = Keeper(SlurmClient(slurm), kept)
    slurm.away = True
    watched.look(jobs(RUNNING))
    slurm.away = False
    watched.look(jobs(RUNNING))
    assert kept.get("7")


def test_a_number_that_comes_again_is_another_job(tmp_path: Path) -> None:
    slurm, kept = Answers(), KeptJobs(tmp_path)
    Keeper(SlurmClient(slurm), kept).look(jobs(RUNNING))
    Keeper(SlurmClient(slurm), kept).look(jobs(replace(RUNNING, command="/other")))
    assert slurm.asked == ["7", "7"]


def test_many_that_start_at_once_are_kept_over_several_looks(tmp_path: Path) -> None:
    slurm, kept = Answers(), KeptJobs(tmp_path)
    watched = Keeper(SlurmClient(slurm), kept)
    many = jobs(*(replace(RUNNING, number=str(number), job=str(number)) for number in range(100, 100 + ASKED + 5)))
    watched.look(many)
    assert len(slurm.asked) == ASKED
    watched.look(many)
    assert sorted(slurm.asked) == sorted(many)


def test_a_directory_that_cannot_be_written_keeps_nothing_and_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    slurm = Answers()
    watched = Keeper(SlurmClient(slurm), KeptJobs(tmp_path / "file" / "kept"))
    watched.look(jobs(RUNNING))
    assert slurm.asked == ["7"]
