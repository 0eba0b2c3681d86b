"""`report` as a person starts it: a job's card, and a month."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from schedmate_records import GpuActivity, GpuProcess, GpuSample, JobEvent, JobMetric, Position, Record
from sinks.clickhouse.client import open_client
from sinks.clickhouse.writer import ClickHouseWriter
from tests.schedmate.forked import run_forked
from tests.servers.clickhouse import clickhouse_server

pytestmark = pytest.mark.clickhouse

H = 3600.0
T0 = float(int(time.time() // 60) * 60) - 20 * H
MONTH = time.strftime("%Y-%m", time.gmtime(T0))


def event(job: str, kind: str, at: float, **fields: Any) -> Record:
    return JobEvent(id=f"{job}/{kind}", job=job, kind=kind, time=T0 + at, scheduler="slurm", **fields)


def job(id_: str, hours: float = 4, state: str = "COMPLETED", **fields: Any) -> list[Record]:
    asked = {"user": "ada", "gpus": 2.0, "time_limit_s": 8 * H, "cpus": 16.0, "memory_gib": 64.0, "name": "llama"}
    return [
        event(id_, "submitted", -1800, **{**asked, **fields}),
        event(id_, "started", 0, **{**asked, **fields}, nodes=["n1"]),
        event(id_, "ended", hours * H, state=state, exit_code=0 if state == "COMPLETED" else 1),
        JobMetric(id=f"{id_}/m", job=id_, time=T0 + H, step=10, step_time_s=1.0),
    ]


def used(name: str, working_s: float, idle_s: float, memory: int = 70) -> list[Record]:
    return [
        GpuActivity(id=f"{name}/a", job=name, node="n1", time=T0 + H, working_s=1.0),
        GpuActivity(id=f"{name}/b", job=name, node="n1", time=T0 + 4 * H, working_s=working_s, idle_s=idle_s),
        *(
            GpuSample(id=f"{name}/{at}", node="n1", gpu=0, time=T0 + at * H, utilisation=use, memory_used_bytes=memory - at,
                      memory_total_bytes=100, processes=[GpuProcess(pid=1, job=name)])
            for at, use in ((1, 40), (2, 60))
        ),
    ]  # fmt: skip


RECORDS = [
    *job("1"), *used("1", 6 * H, 2 * H),
    *job("2", 3), *used("2", 1 * H, 3 * H),
    *job("3", 8, "TIMEOUT"), *used("3", 6 * H, 0),
    *job("4", gpus=None, time_limit_s=None, cpus=None, memory_gib=None, name=""),
    *job("5", 6), *used("5", 6 * H, 0, memory=12),
]  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with clickhouse_server(tmp_path_factory.mktemp("report")) as server:
        run_forked(
            f"--set=clickhouse.url={server.url}", "migrate", env={"SCHEDMATE_CONFIG": "/dev/null", "HOME": "/tmp"}
        )
        writer = ClickHouseWriter(lambda: open_client(server.url))
        writer.write([(Position("t", 0, number), record) for number, record in enumerate(RECORDS)])
        writer.close()
        yield server.url


def output_of(url: str, *arguments: str, code: int = 0, columns: str = "") -> str:
    environment = {"SCHEDMATE_CONFIG": "/dev/null", "HOME": "/tmp", **({"COLUMNS": columns} if columns else {})}
    done = run_forked(f"--set=clickhouse.url={url}", "report", *arguments, env=environment)
    assert done.returncode == code, done.stderr
    return (done.stderr if code else done.stdout).decode()


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_a_card_shows_what_was_requested_and_used(url: str) -> None:
    shown = lines(output_of(url, "1", columns="80"))
    assert shown[0].startswith("Job 1 (llama), attempt 0, of ada: ")
    assert shown[1:] == [
        "requested used",
        "time 8 h 4 h",
        "waiting time 30 min",
        "GPUs 2 75% of the time working",
        "GPU utilisation 50%",
        "GPU memory 69% at most",
        "CPUs 16 —",
        "memory 64 GiB —",
        "Nothing to change.",
    ]


def test_numbers_that_are_not_known_are_dashes(url: str) -> None:
    shown = lines(output_of(url, "4"))
    assert shown[2:-1] == [
        "time — 4 h", "waiting time 30 min", "GPUs — —", "GPU utilisation —", "GPU memory —", "CPUs — —", "memory — —"
    ]  # fmt: skip
    assert shown[-1] == "No GPU samples of this job are on record, so its use of GPUs is not known."
    card = [json.loads(line) for line in output_of(url, "4", "--json").splitlines()]
    assert [row["requested"] for row in card] == [None, "", None, "", "", None, None]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("2", "Its GPUs were idle for 75% of the time"),
        ("3", "Request more time, or resume from the last checkpoint."),
        ("5", "It used 11% of its GPUs' memory at most"),
    ],
)
def test_the_advice_follows_from_what_was_used(url: str, name: str, advice: str) -> None:
    assert lines(output_of(url, name))[-1].startswith(advice)


def test_a_month_shows_goodput_by_user_cause_size_and_job(url: str) -> None:
    shown = lines(output_of(url, "--month", MONTH))
    assert [title for title in shown if title in {"The month", "By user", "By number of GPUs", "By job"}]
    (total,) = (line for line in shown if line.startswith(MONTH))
    assert total.split()[1:7] == ["0", "42", "81.0%", "0.0%", "19.0%", "0.0%"]
    rows = [json.loads(line) for line in output_of(url, "--month", MONTH, "--json").splitlines()]
    assert {row["table"] for row in rows} >= {"The month", "By user", "By job"}


def test_errors_state_what_to_write(url: str) -> None:
    assert "expected a job or --month" in output_of(url, code=2)
    assert "expected --month as 20" in output_of(url, "--month", "2026-13", code=2)
    assert "no job with GPUs started in 2020-01" in output_of(url, "--month", "2020-01", code=1)
    assert "nothing is on record of job 'x'" in output_of(url, "x", code=1)
