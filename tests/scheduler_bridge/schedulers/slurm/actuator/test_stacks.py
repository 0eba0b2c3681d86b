"""Stacks of a hung job's processes on a real Slurm, taken as its user before the bridge cancels it."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedmate_records import Action, Outcome
from scheduler_bridge import Bridge
from scheduler_bridge.bundle import Bundles
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from scheduler_bridge.schedulers.slurm.client.job_command import MAX_OUTPUT, SlurmJobCommand
from tests.docs.pages import ROOT
from tests.scheduler_bridge.findings import Written
from tests.servers.slurm import Slurm
from tests.waiting import until

from .test_actions import SETTINGS, clear, decision

pytestmark = pytest.mark.slurm

HANGS = "import time\ndef wait_for_the_ring():\n    time.sleep(600)\nwait_for_the_ring()\n"


class StacksSite:
    """A bridge that takes stacks."""

    def __init__(self, slurm: Slurm, directory: Path) -> None:
        self.environment = {"SLURM_CONF": str(slurm.configuration), "PATH": os.environ["PATH"]}
        self.client = SlurmClient(SlurmCommands(self.environment))
        self.bundles = directory / "bundles"
        self.written = Written()

    def command(self, *command: str, limit_s: float = 20.0) -> SlurmJobCommand:
        return SlurmJobCommand(command, limit_s, self.environment)

    def cancel(self, job: str, stacks: SlurmJobCommand) -> list[Outcome]:
        actuator = SlurmActuator(self.client, stacks=stacks)
        bridge = Bridge(actuator, SETTINGS, self.written, bundles=Bundles(self.bundles))
        bridge.accept(decision(Action.CANCEL, job=job))
        bridge.advance()
        return self.written.outcomes

    @property
    def kept(self) -> str:
        (path,) = self.bundles.glob("*/stacks.txt")
        return path.read_text()


@pytest.fixture
def site(slurm: Slurm, tmp_path: Path) -> Iterator[StacksSite]:
    site = StacksSite(slurm, tmp_path)
    clear(slurm, site.client)
    yield site
    clear(slurm, site.client)


def test_a_hung_jobs_stack_is_kept_before_it_is_cancelled(slurm: Slurm, site: StacksSite, tmp_path: Path) -> None:
    py_spy = Path(sys.executable).with_name("py-spy")
    assert py_spy.exists(), "py-spy is in the group `dev`"
    program, script = tmp_path / "hang.py", tmp_path / "stacks.sh"
    program.write_text(HANGS)
    script.write_text(f"#!/bin/sh\nPATH={py_spy.parent}:$PATH exec {ROOT / 'examples' / 'stacks' / 'py_spy.sh'}\n")
    script.chmod(0o755)
    job = slurm.submit(f"srun --ntasks-per-node=1 {sys.executable} {program}", "--nodes=2", "--output=/dev/null")
    slurm.wait(job, "RUNNING")
    until(
        lambda: subprocess.run(["pgrep", "-f", str(program)], check=False, capture_output=True).stdout.count(b"\n") > 1
    )
    assert site.cancel(job, site.command(str(script)))[-1] is Outcome.DONE
    stacks = [line for line in site.kept.splitlines() if "wait_for_the_ring" in line]
    assert {line.partition(":")[0].strip() for line in stacks} == {"0", "1"}, site.kept


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs jobs of others")
def test_it_runs_as_the_jobs_user_with_nothing_of_the_bridges_environment(
    slurm: Slurm, site: StacksSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCHEDMATE_KAFKA__PASSWORD", "geheim")
    user, sbatch = pwd.getpwnam("daemon"), shutil.which("sbatch")
    submitted = subprocess.run(
        [str(sbatch), "--parsable", "--chdir=/", "--output=/dev/null"],
        input="#!/bin/sh\nsleep 600\n", env=site.environment, user=user.pw_uid, group=user.pw_gid, extra_groups=[],
        cwd="/", capture_output=True, text=True, check=True,
    )  # fmt: skip
    job = submitted.stdout.strip()
    slurm.wait(job, "RUNNING")
    printed = site.command("/bin/sh", "-c", "id -un; env")(site.client, job)
    slurm.run("scancel", job)
    assert "0: daemon" in printed
    assert "geheim" not in printed


def test_what_does_not_end_or_prints_without_end_is_bounded(slurm: Slurm, site: StacksSite) -> None:
    job = slurm.submit("sleep 600", "--output=/dev/null")
    slurm.wait(job, "RUNNING")
    assert "begun" in site.command("/bin/sh", "-c", "echo begun; sleep 600", limit_s=1.0)(site.client, job)
    much = site.command("/bin/sh", "-c", "yes | head -c 5000000")(site.client, job)
    assert len(much) <= 4 * MAX_OUTPUT, "each line has its task's number in front"


def test_a_job_that_has_ended_has_none_and_is_no_error(site: StacksSite) -> None:
    assert "job id" in site.command("true")(site.client, "4711").lower()
