"""What submitted jobs train, read by a process of its own as the job's user."""

import os
import pwd
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scheduler_bridge.schedulers.slurm.client import SlurmJob
from scheduler_bridge.schedulers.slurm.events.sources import SourceReader
from tests.processors.advise.metadata.trees import LOOP, NETS, grown
from tests.scheduler_bridge.schedulers.slurm.slurm_jobs import job

ME = pwd.getpwuid(os.geteuid()).pw_name


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    script = "#!/bin/bash\nsrun python train.py --epochs $1\n"
    return grown(tmp_path / "project", {"train.py": LOOP, "nets.py": NETS, "train.sh": script})


def submitted(tree: Path, epochs: int = 30, user: str = ME, **changes: Any) -> SlurmJob:
    return job("1", "PENDING", user=user, directory=str(tree), command=f"{tree}/train.sh {epochs}", **changes)


PATIENT_S = 300.0


def reader() -> SourceReader:
    made = SourceReader(lambda _: 4.0, read_s=PATIENT_S, look_s=PATIENT_S)
    made.begin()
    return made


def test_a_script_and_its_program_say_what_a_job_trains(tree: Path) -> None:
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("ref: refs/heads/faster\n")
    source = reader().read(submitted(tree, node_count=2))
    assert source is not None
    found = source.workload
    assert (found.model_name, found.iters, found.iter_type, found.gpus) == ("TinyNet", 30, "epoch", 4)
    assert (found.dataset_train, source.branch) == ("SVHN", "faster")


def test_what_no_event_may_hold_is_left_out(tree: Path) -> None:
    """With such a name the event of the submission was refused, and the submission lost."""
    (tree / ".git").mkdir()
    for branch in ("with\u200djoiner", "b/" * 200):
        (tree / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
        source = reader().read(submitted(tree))
        assert source is not None
        assert source.branch == ""
    for name in ("train.py", "nets.py"):
        (tree / name).write_text((tree / name).read_text().replace("TinyNet", "Tiny" * 100))
    assert reader().read(submitted(tree)) is None


def test_a_tree_that_is_not_there_is_no_record(tmp_path: Path) -> None:
    assert reader().read(submitted(tmp_path / "gone")) is None


def test_a_user_that_this_host_does_not_know_is_no_record(tree: Path) -> None:
    assert reader().read(submitted(tree, user="nobody-of-this-name")) is None


def test_tasks_of_an_array_are_read_once(tree: Path) -> None:
    read = reader()
    first = read.read(submitted(tree))
    (tree / "train.py").unlink()
    assert read.read(submitted(tree)) == first
    assert read.read(submitted(tree, epochs=31)) != first


def test_a_look_reads_no_more_once_its_time_is_spent(tree: Path) -> None:
    now = [0.0]
    read = SourceReader(lambda _: 1.0, clock=lambda: now[0], read_s=PATIENT_S, look_s=PATIENT_S)
    read.begin()
    now[0] = PATIENT_S
    assert read.read(submitted(tree)) is None
    read.begin()
    assert read.read(submitted(tree, epochs=5)) is not None


def may_run_python(user: str) -> bool:
    """Whether a user reaches the Python that runs the tests."""
    if os.geteuid() != 0:
        return False
    try:
        return subprocess.run([sys.executable, "-c", ""], user=user, cwd="/", check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not may_run_python("nobody"), reason="needs root, and a Python that others may run")
def test_another_user_reads_only_what_is_theirs(tree: Path) -> None:
    for part in (tree, *tree.parents):
        if part.is_relative_to("/tmp") and part != Path("/tmp"):
            part.chmod(0o755)
    other = submitted(tree, user="nobody")
    assert reader().read(other) is not None
    (tree / "train.py").chmod(0o600)
    found = reader().read(other)
    assert found is None or found.workload.model_name is None
