"""The submit plugin on a real slurmctld, with the real server of estimates."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from processors.advise.past import PastJob, SubmittedJob
from schedmate.advisor.history_file import history_file
from tests.servers.slurm import Slurm, find

EXAMPLE = Path(__file__).parents[2] / "examples" / "slurm"
PATIENT_S = 300

pytestmark = pytest.mark.slurm


def plugin(cluster: Path, **changes: str) -> None:
    """Install the plugin with other constants."""
    text = (EXAMPLE / "job_submit.lua").read_text()
    names = {
        "SOCKET": f'"{cluster}/ask.sock"',
        "ASK": f'"{EXAMPLE}/schedmate_ask.py"',
        "PYTHON": f'"{sys.executable}"',
        "BOUND_S": "60",
    }
    for name, value in (names | changes).items():
        before = next(line for line in text.splitlines() if line.startswith(f"local {name} = "))
        text = text.replace(before, f"local {name} = {value}")
    (cluster / "job_submit.lua").write_text(text)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Slurm]:
    """A cluster with the plugin; Slurm reads it again whenever it has changed."""
    find("slurmctld")
    root = Path(tempfile.mkdtemp(prefix="slurm-"))
    slurm = Slurm(root, nodes=("n1",), more="JobSubmitPlugins=lua")
    plugin(root)
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture
def script(cluster: Slurm) -> Path:
    file = cluster.directory / "train.sh"
    file.write_text("#!/bin/sh\nsleep 600\n")
    return file


@contextmanager
def serving(cluster: Slurm, jobs: list[PastJob]) -> Iterator[None]:
    """Run `schedmate advise serve` on a history of `jobs`."""
    history, path = cluster.root / "history.db", cluster.root / "ask.sock"
    history.unlink(missing_ok=True)
    with history_file(history) as opened:
        opened.add_all((past.about.job, past) for past in jobs)
    settings = {"SCHEDMATE_ADVISOR__HISTORY": str(history), "SCHEDMATE_ADVISOR__MODELS": str(cluster.root / "models")}
    command = [sys.executable, "-m", "schedmate", "advise", "serve", str(path)]
    server = subprocess.Popen(command, env=os.environ | settings | {"SCHEDMATE_SERVICE__PORT": "0"})
    try:
        deadline = time.monotonic() + PATIENT_S
        while not path.is_socket():
            assert server.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield
    finally:
        server.terminate()
        assert server.wait(PATIENT_S) == 0
    assert not path.exists()


def past(name: str, command: str, directory: Path, seconds: float) -> PastJob:
    about = SubmittedJob(job=name, command=command, directory=str(directory))
    return PastJob(about=about, ended=float(name), duration_s=seconds)


def submitted(cluster: Slurm, *words: str) -> str:
    """Submit a job that does not start, and return its record."""
    job = cluster.run("sbatch", "--parsable", "--hold", *words).strip()
    shown = cluster.run("scontrol", "-o", "show", "job", job)
    cluster.run("scancel", job)
    return shown


def test_an_earlier_run_stands_in_the_comment_and_the_limit_is_left_alone(cluster: Slurm, script: Path) -> None:
    plugin(cluster.root)
    with serving(cluster, [past("1", f"{script} --lr 0.1", cluster.directory, 7000.0)]):
        shown = submitted(cluster, str(script), "--lr", "0.3")
        own = submitted(cluster, "--comment=mine", str(script), "--lr", "0.1")
        other = submitted(cluster, "--wrap=true")
    assert " Comment=schedmate: 1 h 57 min (" in shown
    assert ", resubmission " in shown
    assert " TimeLimit=UNLIMITED " in shown
    assert " Comment=mine; schedmate: 1 h 57 min (" in own
    assert "schedmate" not in other


def test_a_time_limit_comes_only_where_it_is_turned_on_and_none_is_named(cluster: Slurm, script: Path) -> None:
    plugin(cluster.root, SET_TIME_LIMIT="true")
    with serving(cluster, [past("1", str(script), cluster.directory, 7000.0)]):
        unnamed = submitted(cluster, str(script))
        named = submitted(cluster, "--time=5", str(script))
        cluster.run("scontrol", "update", "PartitionName=p", "MaxTime=60")
        longest = submitted(cluster, str(script))
        cluster.run("scontrol", "update", "PartitionName=p", "MaxTime=UNLIMITED")
    # One run says 7,000 s, up to 7,000 * exp(1.645 * 2 * 0.2 * sqrt(2)) = 17,760 s; half as much again are 444 minutes.
    assert " TimeLimit=07:24:00 " in unnamed
    assert " TimeLimit=00:05:00 " in named
    assert "schedmate: 1 h 57 min" in longest
    assert " TimeLimit=01:00:00 " in longest or " TimeLimit=UNLIMITED " in longest


def test_what_a_user_writes_is_never_a_command(cluster: Slurm, script: Path, tmp_path: Path) -> None:
    plugin(cluster.root)
    touched = tmp_path / "touched"
    nasty = f"$(touch {touched})`touch {touched}`; touch {touched} 'x\" | touch {touched}\n\\\\ \x01 ü"
    command = f"{script} {nasty}"
    with serving(cluster, [past("1", command, cluster.directory, 7000.0)]):
        shown = submitted(cluster, f"--job-name={nasty[:90]}", str(script), nasty)
    assert not touched.exists()
    assert "schedmate: 1 h 57 min" in shown, "and it came as it was written"


def test_a_server_that_never_answers_or_is_away_does_not_hold_a_submission_up(cluster: Slurm, script: Path) -> None:
    plugin(cluster.root, BOUND_S="0.5")
    path = cluster.root / "ask.sock"
    assert "schedmate" not in submitted(cluster, str(script))
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(path))
        deaf.listen()
        assert "schedmate" not in submitted(cluster, str(script))
    path.unlink()


def test_nothing_is_left_of_questions(cluster: Slurm, script: Path) -> None:
    before = {each.name for each in Path("/tmp").glob("lua_*")}
    submitted(cluster, str(script))
    assert {each.name for each in Path("/tmp").glob("lua_*")} <= before
