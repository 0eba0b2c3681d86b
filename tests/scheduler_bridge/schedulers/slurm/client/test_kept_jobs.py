"""Scripts and options of jobs, kept beside Slurm, and the options with which a job is submitted again."""

import os
import stat
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_bridge.schedulers.slurm.client import SlurmRefused
from scheduler_bridge.schedulers.slurm.client.kept_jobs import MAX_AGE_S, MAX_SCRIPT, KeptJob, KeptJobs
from scheduler_bridge.schedulers.slurm.client.submission import COLUMNS, options, read_columns, submit

from .test_het_job import FIRST

JOB = replace(
    FIRST, number="7", job="7", het_numbers=(), tres_per_node="gres:shard:2", tasks=4, node_count=2, memory=100.0
)


def kept(name: str = "7", script: bytes = b"#!/bin/sh\n\xff") -> KeptJob:
    return KeptJob(job=replace(JOB, job=name), script=script, columns={"name": "x"})


def test_what_is_kept_is_found_again_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    jobs = KeptJobs(tmp_path / "kept")
    jobs.put(kept("7_3"))
    assert jobs.get("7_3") == kept("7_3")
    assert jobs.get("7") is None
    assert {stat.S_IMODE(os.stat(path).st_mode) for path in (tmp_path / "kept").iterdir()} == {0o600}  # noqa: PTH116
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["../7", "7/../8", "", "7+1", "x", "7_3_1"])
def test_a_name_that_is_no_jobs_names_no_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "8.json").write_bytes(b"{}")
    assert KeptJobs(tmp_path).get(name) is None


def test_a_file_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    (tmp_path / "8.json").write_bytes(b'{"job": 3}')
    assert KeptJobs(tmp_path).get("8") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_another_user_wrote_is_not_believed(tmp_path: Path) -> None:
    jobs = KeptJobs(tmp_path)
    jobs.put(kept("8"))
    os.chown(tmp_path / "8.json", 65534, 65534)
    assert jobs.get("8") is None


def test_the_oldest_go_where_there_are_too_many_and_a_large_script_is_not_kept(tmp_path: Path) -> None:
    jobs, now = KeptJobs(tmp_path, max_bytes=20_000), time.time()
    for number in range(1, 60):
        jobs.put(kept(str(number)))
        os.utime(tmp_path / f"{number}.json", (now, now - 100 + number))
    left = sorted(int(path.stem) for path in tmp_path.iterdir())
    assert left == list(range(left[0], 60))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 20_000
    jobs.put(kept("99", b"x" * (MAX_SCRIPT + 1)))
    assert jobs.get("99") is None


def test_what_is_old_goes(tmp_path: Path) -> None:
    KeptJobs(tmp_path).put(kept("1"))
    now = (tmp_path / "1.json").stat().st_mtime
    KeptJobs(tmp_path, clock=lambda: now + MAX_AGE_S + 1).put(kept("2"))
    assert [path.stem for path in tmp_path.iterdir()] == ["2"]


@given(st.dictionaries(st.sampled_from(sorted(COLUMNS)), st.text("ab é\n,'$;-=", min_size=1, max_size=20)))
def test_columns_are_cut_by_their_width(texts: dict[str, str]) -> None:
    row = b"".join(texts.get(name, "(null)").encode()[:width].ljust(width) for name, width in COLUMNS.items())
    found = read_columns(row.decode() + "\n")
    assert found == {name: text.strip() for name, text in texts.items() if text.strip()}


def test_options_ask_for_what_the_job_had() -> None:
    columns = {"name": "my --job", "timelimit": "10:00", "stdout": "/o/%j.out", "cpus-per-tres": "gres:gpu:4"}
    job = replace(JOB, job="7_3", tres_per_job="gres:gpu:a100:2", exclusive=True, required_nodes=("n1",))
    words = options(job, columns)
    assert {"--job-name=my --job", "--time=10:00", "--output=/o/%j.out", "--array=3", "--gres=shard:2"} <= set(words)
    assert {"--gpus=a100:2", "--cpus-per-gpu=4", "--nodes=2", "--ntasks=4", "--mem=100M", "--nodelist=n1"} <= set(words)
    assert {"--requeue", "--exclusive"} <= set(words)
    assert all(word.startswith("--") for word in words)


def test_nobody_submits_for_a_user_whom_the_host_does_not_know() -> None:
    with pytest.raises(SlurmRefused, match="by hand"):
        submit(b"#!/bin/sh\n", [], "no-such-user")
