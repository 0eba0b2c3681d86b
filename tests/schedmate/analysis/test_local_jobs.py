"""Jobs read from files and pipes in this process."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from processors.job import JobProcessor
from schedmate.analysis.local_jobs import LocalJobs
from sinks.redis.status import JobStatus
from streams.producers.stored import follow_chunks

LINES = "".join(f"step {step}/100 loss {3 - step / 100:.2f} 0.250 s/it\n" for step in range(1, 41))


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(path := tmp_path / "train.pipe")
    return path


def wait(local: LocalJobs, until: Callable[[dict[str, JobStatus]], bool]) -> dict[str, JobStatus]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        jobs = {one.job: one for one in local.jobs()}
        if until(jobs):
            return jobs
        time.sleep(0.02)
    raise AssertionError(local.jobs())


def test_a_pipe_is_a_job_until_it_ends(pipe: Path) -> None:
    with LocalJobs([pipe], JobProcessor()) as local:
        with pipe.open("w") as writer:
            writer.write(LINES)
            writer.flush()
            job = wait(local, lambda jobs: jobs["train.pipe"].step == 40)["train.pipe"]
            assert (job.state, job.loss, job.step_time_s, job.verdict) == ("running", 2.6, 0.25, "")
            assert local.writing
            writer.write("Traceback (most recent call last):\nKeyError: 'accuracy'\n")
        job = wait(local, lambda jobs: jobs["train.pipe"].state == "ended")["train.pipe"]
        assert (job.verdict, job.verdict_line) == ("user_script", "KeyError: 'accuracy'")
        local.finish()
        assert not local.writing


def test_logs_of_one_name_are_jobs_of_their_own_and_one_given_twice_is_one(tmp_path: Path) -> None:
    files = [tmp_path / place / "train.log" for place in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text(LINES)
    with LocalJobs([*files, files[0]], JobProcessor()) as local:
        wait(local, lambda jobs: jobs.keys() == {str(file) for file in files})
        with files[0].open("a") as log:
            log.write("step 41/100 loss 2.59 0.250 s/it\n")
        jobs = wait(local, lambda jobs: jobs[str(files[0])].step == 41)
        assert not local.writing
        assert {one.state for one in jobs.values()} == {""}, "nobody knows whether a file still grows"


def test_a_log_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "good.log").write_text(LINES)
    with LocalJobs([tmp_path / "none.log", tmp_path / "good.log"], JobProcessor()) as local:
        wait(local, lambda jobs: "good.log" in jobs and bool(local.problem))
        assert "none.log" in local.problem


def test_what_a_pipe_brought_is_told_while_its_writer_is_silent(pipe: Path) -> None:
    chunks = follow_chunks(pipe, lambda: False, seconds=0.02)
    with open(os.open(pipe, os.O_RDWR), "w") as writer:  # noqa: PTH123  # both ends: nobody waits for the other
        writer.write("a line\n")
        writer.flush()
        assert next(chunks).lines == ["a line"]
    assert list(chunks) == []
