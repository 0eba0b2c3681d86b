"""`logs` as a person starts it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedmate.services.job_lines import JobLineWriter
from schedmate_records import EventKind, JobEvent, LogChunk, Position
from sinks.clickhouse.client import open_client
from sinks.clickhouse.writer import ClickHouseWriter
from tests.schedmate.forked import run_forked
from tests.servers.clickhouse import clickhouse_server

pytestmark = pytest.mark.clickhouse

ROOT = Path(__file__).parents[3]
NOW = time.time()


class Site:
    """A ClickHouse, a writer of lines, and the command line."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.writer = ClickHouseWriter(lambda: open_client(url))
        self._lines = JobLineWriter(self.writer, 1.0)
        self._offset = 0

    def printed(self, job: str, *lines: str, first: int = 1, **fields: object) -> None:
        self._offset += 1
        known = {"producer": "p", "first_line": first, "first_piece": first, "time": NOW - 5, "node": "n1"}
        chunk = LogChunk(job=job, lines=list(lines), **{**known, **fields})
        self._lines.write([(Position("job-logs", 0, self._offset), chunk)])

    def output_of(self, *arguments: str, code: int = 0) -> str:
        done = run_forked(
            f"--set=clickhouse.url={self.url}", *arguments, env={"SCHEDMATE_CONFIG": "/dev/null", "HOME": "/tmp"}
        )
        assert done.returncode == code, done.stderr
        return (done.stderr if code == 2 else done.stdout).decode()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with clickhouse_server(tmp_path_factory.mktemp("logs")) as server:
        site = Site(server.url)
        site.output_of("migrate")
        yield site
        site.writer.close()


def test_help_names_the_setting_while_no_lines_are_stored(site: Site) -> None:
    assert "Set clickhouse.job_lines_days, for example to 7" in site.output_of("logs", "4711", code=2)
    assert "job_lines_days" in site.output_of("logs", "4711", "--follow", code=2)


def test_lines_are_shown_by_rank_after_their_numbers(site: Site) -> None:
    site.printed("10", "second", rank=1)
    site.printed("10", "first \x1b[2J", "step 2", "CUDA error")
    site.printed("10", "warn", stream="stderr")
    assert site.output_of("logs", "10").splitlines() == [
        "==> stdout of rank 0 on n1, attempt 0 <==",
        "       1 | first \\x1b[2J",
        "       2 | step 2",
        "       3 | CUDA error",
        "==> stderr of rank 0 on n1, attempt 0 <==",
        "       1 | warn",
        "==> stdout of rank 1 on n1, attempt 0 <==",
        "       1 | second",
    ]
    assert site.output_of("logs", "10", "--rank", "1").count("|") == 1
    assert site.output_of("logs", "10", "--grep", "(?i)cuda ERR").splitlines()[1:] == ["       3 | CUDA error"]
    assert site.output_of("logs", "10", "--grep", "nothing", code=1) == ""
    assert "regular expression as RE2 reads it" in site.output_of("logs", "10", "--grep", "(", code=2)
    assert "are stored: they have expired" in site.output_of("logs", "none", code=2)


def test_the_newest_attempt_is_shown_unless_another_is_named(site: Site) -> None:
    site.printed("11", "old")
    site.printed("11", "new", attempt=1)
    assert "new" in site.output_of("logs", "11")
    assert "old" not in site.output_of("logs", "11")
    assert "old" in site.output_of("logs", "11", "--attempt", "0")


def test_lines_around_one_and_of_a_time_are_shown(site: Site) -> None:
    site.printed("12", *map(str, range(1, 101)), time=NOW - 7200)
    site.printed("12", "recent", first=101)
    assert re.findall(r"(\d+) \|", site.output_of("logs", "12", "--around", "60")) == [str(n) for n in range(40, 81)]
    assert re.findall(r"(\d+) \|", site.output_of("logs", "12", "--since", "1h")) == ["101"]


def test_each_job_of_an_id_has_its_own_lines(site: Site) -> None:
    events = [
        JobEvent(id=f"e{name}", job="13", incarnation=name, kind=EventKind.STARTED, time=NOW - ago, scheduler="slurm")
        for name, ago in (("a", 100), ("b", 10))
    ]
    site.writer.write([(Position("job-events", 0, number), event) for number, event in enumerate(events)])
    site.printed("13", "of the first", incarnation="a")
    site.printed("13", "of the second", incarnation="b")
    assert "of the second" in site.output_of("logs", "13")
    assert "of the first" not in site.output_of("logs", "13")
    assert "of the first" in site.output_of("logs", "13@a")


def test_follow_shows_new_lines_until_it_is_stopped(site: Site) -> None:
    site.printed("14", "before")
    command = [
        sys.executable,
        "-m",
        "schedmate",
        f"--set=clickhouse.url={site.url}",
        "logs",
        "14",
        "--follow",
        "--grep",
        "e",
    ]
    environment = os.environ | {"SCHEDMATE_CONFIG": "/dev/null"}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - background jobs of a shell ignore it
    ) as process:
        assert process.stdout
        assert [process.stdout.readline() for _ in range(2)][1] == b"       1 | before\n"
        site.printed("14", "no", "after", first=2)
        site.printed("14", "next attempt", attempt=1)
        shown = [process.stdout.readline().decode() for _ in range(3)]
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
    assert [line.strip() for line in shown] == [
        "3 | after", "==> stdout of rank 0 on n1, attempt 1 <==", "1 | next attempt"
    ]  # fmt: skip
    assert process.returncode == 0, errors
    assert not rest
    assert not errors
