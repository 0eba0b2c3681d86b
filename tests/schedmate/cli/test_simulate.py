"""`schedmate simulate` and `schedmate workload` from the command line."""

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schedmate.cli import app
from schedmate.simulate.policies import POLICIES

TRACE = "job_id,submit_s,duration_s,gpus,estimate_s\na,0,10,2,10\nb,1,20,2,20\nc,2,5,2,5\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "jobs.csv"
    file.write_text(TRACE)
    return file


def simulate(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["simulate", *map(str, arguments)])


def test_outcomes_hold_every_job_in_the_order_of_the_trace(trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "out-{policy}.csv"
    done = simulate(trace, "--nodes", "1x2", "--policy", "fifo", "--policy", "sjf", "--outcomes", out)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out-fifo.csv").read_text() == "job_id,start_s,end_s,evictions\na,0,10,0\nb,10,30,0\nc,30,35,0\n"
    assert (tmp_path / "out-sjf.csv").read_text() == "job_id,start_s,end_s,evictions\na,0,10,0\nb,15,35,0\nc,10,15,0\n"


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_runs_every_job(trace: Path, tmp_path: Path, policy: str) -> None:
    table = tmp_path / "table.csv"
    done = simulate(trace, "--nodes", "2x2", "--policy", policy, "--table", table, "--csv")
    assert done.exit_code == 0, done.output
    [row] = csv.DictReader(table.read_text().splitlines())
    assert (row["policy"], row["jobs"], row["unfinished"]) == (policy, "3", "0")


def test_nodes_are_looked_for_beside_the_trace(trace: Path) -> None:
    (trace.parent / "nodes.csv").write_text("gpus,count\n2,1\n")
    assert simulate(trace).exit_code == 0


def test_a_figure_is_drawn(trace: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = tmp_path / "figure.png"
    assert simulate(trace, "--nodes", "1x2", "--figure", figure).exit_code == 0
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "best", "--nodes", "1x2"], "expected one of fifo"),
        (
            ["--policy", "fifo", "--policy", "sjf", "--outcomes", "x.csv", "--nodes", "1x2"],
            "expected {policy} in the name",
        ),
    ],
)
def test_what_cannot_be_is_refused(trace: Path, arguments: list[str], message: str) -> None:
    done = simulate(trace, *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.output.replace("│", " ").split())


def test_without_nodes_it_says_what_to_do(trace: Path) -> None:
    done = simulate(trace)
    assert "use --nodes 16x8" in str(done.exception)


def test_jobs_that_are_too_large_are_told_of_and_hold_nobody_up(trace: Path, tmp_path: Path) -> None:
    trace.write_text(TRACE + "huge,0,5,64,5\n")
    out = tmp_path / "out.csv"
    done = simulate(trace, "--nodes", "1x2", "--outcomes", out)
    assert "1 job never started: their cluster" in done.output
    assert "huge,,,0" in out.read_text()
    assert "c,30,35,0" in out.read_text()


def test_jobs_without_gpus_are_counted_and_have_a_row(trace: Path, tmp_path: Path) -> None:
    trace.write_text(TRACE + "cpu,0,5,0,5\n")
    out = tmp_path / "out.csv"
    done = simulate(trace, "--nodes", "1x2", "--outcomes", out)
    assert "jobs.csv: 3 jobs simulated; left out: 1 use no GPU" in done.output
    assert out.read_text().endswith("c,30,35,0\ncpu,,,0\n")


def test_results_are_printed_policy_by_policy_with_one_header(trace: Path) -> None:
    done = simulate(trace, "--nodes", "1x2", "--policy", "fifo", "--policy", "sjf", "--csv")
    assert [row["policy"] for row in csv.DictReader(done.output.splitlines())] == ["fifo", "sjf"]


def test_progress_is_a_line_every_few_seconds_without_a_terminal(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedmate.cli.simulate.PROGRESS_EVERY_S", 0)
    done = simulate(trace, "--nodes", "1x2", "--json")
    assert "fifo: 3 of 3 jobs have ended after" in done.output


def test_output_of_sacct_is_replayed(tmp_path: Path) -> None:
    file = tmp_path / "jobs.txt"
    file.write_text(
        "JobID|State|Submit|Start|End|Partition|ReqTRES\n"
        "1|COMPLETED|2024-05-01T10:00:00|2024-05-01T10:01:00|2024-05-01T11:01:00|gpu|gres/gpu=4\n"
    )
    done = simulate(file, "--nodes", "2x8", "--csv")
    [row] = csv.DictReader(done.output.splitlines())
    assert (row["jobs"], row["jct_mean_s"]) == ("1", "3600.0")


def test_a_workload_is_drawn_and_can_be_replayed(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "jobs.csv"
    made = CliRunner().invoke(app, ["workload", "spot", str(file), "--days", "0.2", "--nodes", "20", "--seed", "3"])
    assert made.exit_code == 0, made.output
    classed = CliRunner().invoke(
        app, ["workload", "classes", str(file), str(tmp_path / "classed.csv"), "--spot-share", "0.5"]
    )
    assert classed.exit_code == 0, classed.output
    assert simulate(tmp_path / "classed.csv", "--policy", "yarn-cs").exit_code == 0
