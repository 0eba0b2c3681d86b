"""PAI's tables into the history, on tables that are made up."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.lasched.traces import made_up
from schedmate.advisor.history_file import history_file
from schedmate.advisor.pai import COLUMNS
from schedmate.advisor.pai_tables import past_jobs
from schedmate.cli import app
from schedmate_records import UserError

BEGAN = 1_593_561_600.0  # 2020-07-01


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pai")
    made_up.write(folder, jobs=200, seed=3)
    return folder


def imported(history: Path, folder: Path, *options: str) -> str:
    done = CliRunner().invoke(app, ["--set", f"advisor.history={history}", "import", "pai", str(folder), *options])
    assert done.exit_code == 0, done.output
    return done.output.strip()


def test_jobs_are_taken_once_with_their_demand_and_utilisation(tables: Path, tmp_path: Path) -> None:
    history = tmp_path / "history.db"
    assert "new jobs; the history holds 1" in imported(history, tables)
    assert imported(history, tables).startswith("0 new jobs")
    with history_file(history) as opened:
        jobs = list(opened.newest(1000))
    assert 150 < len(jobs) < 190  # failed ones, and those without times, are left out
    assert all(BEGAN <= past.about.submitted < past.ended < BEGAN + 100 * 86_400 for past in jobs)
    assert {past.about.user for past in jobs} > {"user1"}
    assert any(past.about.gpus > 1 and past.about.name for past in jobs)
    with_gpus = [past for past in jobs if past.about.gpus]
    assert with_gpus
    assert all(past.gpu_utilisation is not None and 0 <= past.gpu_utilisation <= 1 for past in with_gpus)
    assert all(past.gpu_utilisation is None for past in jobs if not past.about.gpus)


def test_the_trace_begins_when_one_says(tables: Path, tmp_path: Path) -> None:
    history = tmp_path / "history.db"
    imported(history, tables, "--began", "2021-01-01")
    with history_file(history) as opened:
        assert min(past.about.submitted for past in opened.newest(1000)) >= 1_609_459_200


def write(folder: Path, **rows: str) -> Path:
    for name in ("pai_job_table", "pai_task_table", "pai_group_tag_table", "pai_sensor_table"):
        if name in rows:
            (folder / f"{name}.header").write_text(COLUMNS[name] + "\n")
            (folder / f"{name}.csv").write_text(rows[name])
    return folder


JOB = {
    "pai_job_table": "j,i,u,Terminated,100.0,900.0\n",
    "pai_task_table": "j,worker,2.0,Terminated,110.0,710.0,800.0,10.0,200.0,T4\n",
    "pai_group_tag_table": "",
}


def test_utilisation_is_the_mean_over_the_gpus_of_all_workers(tmp_path: Path) -> None:
    sensors = "".join(
        f"j,worker,w{n},i,m,/dev/nvidia0,1,{used},1,1,1,1,1,1,1,1\n" for n, used in enumerate((100.0, 60.0))
    )
    write(tmp_path, **JOB, pai_sensor_table=sensors)
    read: list[int] = []
    [(name, past)] = past_jobs(tmp_path, 0.0, read.append)
    assert (name, past.gpu_utilisation, past.about.gpus, past.duration_s) == ("pai/j", 40.0, 4.0, 600.0)
    sizes = [(tmp_path / f"{table}.csv").stat().st_size for table in (*JOB, "pai_sensor_table", "pai_task_table")]
    assert sum(read) == sum(sizes)


def test_without_the_sensors_utilisation_is_unknown(tmp_path: Path) -> None:
    [(_, past)] = past_jobs(write(tmp_path, **JOB), 0.0, lambda _: None)
    assert past.gpu_utilisation is None


def test_a_folder_without_the_tables_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"expected PAI's tables as CSV .*pai_task_table\.header"):
        list(past_jobs(tmp_path, 0.0, lambda _: None))
