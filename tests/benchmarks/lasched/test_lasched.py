"""Makespan, measures, PAI's tables, and one run of it all on tables that are made up."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.lasched import makespan, metrics
from benchmarks.lasched.baselines import last_five
from benchmarks.lasched.report import blocks_of
from benchmarks.lasched.traces import made_up, philly, venus
from processors.advise.predictors.job import Completion, Submission
from schedmate.advisor import pai

ROOT = Path(__file__).resolve().parents[3]
TRACES = ROOT.parent / "shared" / "traces"

sizes = st.lists(st.integers(1, 50), min_size=1, max_size=12).map(lambda row: np.array(row, dtype=float))


@given(sizes, st.integers(1, 4))
def test_makespans_are_within_their_bounds(size: np.ndarray, machines: int) -> None:
    bound = makespan.mcnaughton_bound(size, machines)
    longest_first = makespan.list_scheduling(size, np.argsort(-size), machines)
    any_order = makespan.list_scheduling(size, np.arange(len(size)), machines)
    assert bound <= longest_first + 1e-9
    assert any_order <= (2 - 1 / machines) * max(bound, longest_first) + 1e-9  # Graham, 1966
    assert makespan.random_assignment(size, machines, 1) >= bound - 1e-9


def test_longest_first_on_an_example_by_hand() -> None:
    size = np.array([3.0, 3, 2, 2, 2])
    assert makespan.list_scheduling(size, np.argsort(-size, kind="stable"), 2) == 7  # the optimum is 6
    assert makespan.mcnaughton_bound(size, 2) == 6
    assert makespan.mcnaughton_bound(np.array([9.0, 1]), 2) == 9


def test_measures_on_an_example_by_hand() -> None:
    true, predicted = np.array([100.0, 100, 100, 100]), np.array([100.0, 126, 151, 201])
    assert [metrics.MEASURES[name](predicted, true) for name in ("<100 %", "Cov@25", "Cov@50")] == [75, 25, 50]
    assert metrics.BELOW_100(np.array([1.0]), np.array([100.0])) == 100  # however low: why `factor 2` stands beside it
    assert metrics.FACTOR_2(np.array([1.0]), np.array([100.0])) == 0
    assert metrics.RMSLE(np.expm1(np.array([1.0, 3])), np.expm1(np.array([1.0, 1]))) == pytest.approx(np.sqrt(2))
    assert metrics.SPEARMAN(np.array([1.0, 2, 3]), np.array([10.0, 20, 5])) == pytest.approx(-0.5)
    assert metrics.SPEARMAN(np.ones(3), np.arange(3.0)) == 0


def test_the_bootstrap_draws_whole_blocks() -> None:
    true = np.full(400, 10.0)
    predicted = np.where(np.arange(400) < 200, 10.0, 99.0)
    wide = metrics.BELOW_100.interval(predicted, true, np.arange(400) // 100)
    narrow = metrics.BELOW_100.interval(predicted, true, np.arange(400))
    assert wide[1] - wide[0] > 3 * (narrow[1] - narrow[0])
    assert narrow[0] < 50 < narrow[1]


def test_the_last_five_are_those_that_had_ended() -> None:
    jobs = []
    for number in range(8):
        job = Submission(job_id=str(number), submitted=10.0 * number, user="u")
        seconds = 1000.0 if number == 0 else float(number)
        jobs.append(Completion(job=job, ended=job.submitted + seconds, duration_s=seconds))
    found = last_five(jobs, lambda job: job.user, otherwise=0.0)["mean"]
    assert found[:2].tolist() == [0, 0]  # the first still runs
    assert np.expm1(found[-1]) == pytest.approx(np.mean([2, 3, 4, 5, 6]))


def write_pai(folder: Path, **tables: str) -> Path:
    for name, columns in pai.COLUMNS.items():
        (folder / f"{name}.header").write_text(columns + "\n")
        (folder / f"{name}.csv").write_text(tables.get(name, ""))
    return folder


def test_pai_jobs_add_up_their_tasks(tmp_path: Path) -> None:
    folder = write_pai(
        tmp_path,
        pai_job_table="j1,i1,u1,Terminated,100.0,900.0\nj2,i2,u1,Failed,100.0,900.0\nj3,i3,u1,Terminated,100.0,900.0\n",
        pai_task_table="j1,ps,1.0,Terminated,120.0,500.0,600.0,29.5,0.0,MISC\n"
        "j1,worker,2.0,Terminated,110.0,710.0,800.0,10.0,50.0,T4\n"
        "j2,worker,1.0,Failed,110.0,710.0,800.0,10.0,50.0,T4\n"
        "j3,worker,1.0,Terminated,110.0,,800.0,10.0,50.0,T4\n",
        pai_group_tag_table="i1,u1,V100,g1,ctr\n",
    )
    (done,) = pai.read(folder)
    job = done.job
    assert (done.duration_s, job.submitted, job.tasks, job.instances) == (600, 100, 2, 3)
    assert (job.cpus, job.gpus, job.memory_gib) == (22, 1, 49.5)
    assert (job.group, job.workload, job.gpu_type) == ("g1", "ctr", "V100")


def test_a_header_without_a_column_is_refused(tmp_path: Path) -> None:
    write_pai(tmp_path)
    (tmp_path / "pai_task_table.header").write_text("job_name,task_name\n")
    with pytest.raises(ValueError, match=r"plan_gpu.* in pai_task_table\.header"):
        pai.read(tmp_path)


def test_made_up_tables_say_so_and_are_read(tmp_path: Path) -> None:
    made_up.write(tmp_path / "a", jobs=200, seed=3)
    made_up.write(tmp_path / "b", jobs=200, seed=3)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert len(files) == 15
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in files)
    assert "MADE UP" in (tmp_path / "a" / "MADE-UP.txt").read_text()
    jobs = pai.read(tmp_path / "a")
    assert 150 < len(jobs) < 190  # failed ones, and those without times, are left out
    assert len({done.job.group for done in jobs}) > 3


@pytest.mark.slow
def test_the_command_prints_tables_and_draws(tmp_path: Path) -> None:
    made_up.write(tmp_path / "pai", jobs=300, seed=3)
    command = [sys.executable, "-m", "benchmarks.lasched", "tables", "pai", str(tmp_path / "pai")]
    options = ["--methods", "HRAS", "Advisor", "--plots", str(tmp_path / "plots")]
    told = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in ("Cov@25", "HRAS-SPJF", "Advisor-EDF-P", "LPT", "adaptive"):
        assert name in told
    for picture in ("errors.png", "reliability.png"):
        assert (tmp_path / "plots" / picture).read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(not TRACES.is_dir(), reason="needs the public traces in ../shared/traces")
def test_public_traces_are_read_whole() -> None:
    jobs = venus.read(TRACES / "helios-venus" / venus.SEPTEMBER)
    assert len(jobs) == 23_859
    assert len({done.job.job_id for done in jobs}) == len(jobs)
    assert jobs[0].job.submitted == 1_598_889_603  # 2020-09-01 00:00:03 in China
    assert len(philly.read(TRACES / "philly")) > 82_000
    assert len(set(blocks_of(jobs))) > 500
