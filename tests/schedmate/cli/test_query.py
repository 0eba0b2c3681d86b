"""`migrate`, `query` and `status` as a person starts them."""

import csv
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedmate_records import Checkpoint, CheckpointState, DurableBy, EventKind, JobEvent, JobMetric, Position, Record
from sinks.clickhouse.client import open_client
from sinks.clickhouse.migrate import migrations
from sinks.clickhouse.queries import queries
from sinks.clickhouse.writer import ClickHouseWriter
from sinks.redis.connect import open_redis
from sinks.redis.state import RedisState
from tests.schedmate.forked import run_forked
from tests.servers import free_port
from tests.servers.clickhouse import clickhouse_server
from tests.servers.redis import redis_server

pytestmark = pytest.mark.clickhouse

ODD = "[red]job[/red] \x1b[2J"


class Site:
    """A ClickHouse, and the command line over it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def output_of(self, *arguments: str, code: int = 0, **settings: str) -> str:
        values = {"clickhouse.url": self.url, **{name.replace("__", "."): value for name, value in settings.items()}}
        sets = [f"--set={name}={value}" for name, value in values.items()]
        done = run_forked(*sets, *arguments, env={"SCHEDMATE_CONFIG": "/dev/null", "HOME": "/tmp"})
        assert done.returncode == code, done.stderr
        return (done.stdout if code == 0 else done.stderr).decode()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with clickhouse_server(tmp_path_factory.mktemp("queries")) as server:
        site = Site(server.url)
        assert "schedmate migrate" in site.output_of("migrate", "--check", code=2)
        ran = site.output_of("migrate").removeprefix("ran ").strip().split(", ")
        assert ran == [one.name for one in migrations()], "each step once"
        writer = ClickHouseWriter(lambda: open_client(server.url))
        writer.write(metrics("4711") + metrics(ODD))
        writer.close()
        yield site


def metrics(job: str) -> list[tuple[Position, JobMetric]]:
    return [
        (
            Position("job-metrics", 0, step),
            JobMetric(id=f"{job}/{step}", job=job, time=1_790_000_040.0 + step, step=step, step_time_s=0.25, throughput=256.0,
                      throughput_unit="samples/s", loss=2.0, node="n1", rank=step % 2),
        )
        for step in range(10)
    ]  # fmt: skip


def test_migrate_again_changes_nothing(site: Site) -> None:
    assert site.output_of("migrate") == "the tables are up to date\n"
    assert site.output_of("migrate", "--check") == "the tables are as they should be\n"


def test_migrate_creates_a_dropped_table_again(tmp_path: Path) -> None:
    embedded = Site(f"chdb://{tmp_path}")
    embedded.output_of("migrate")
    client = open_client(embedded.url)
    client.command("DROP TABLE failures")
    client.close()
    assert "expected failures in database" in embedded.output_of("migrate", "--check", code=2)
    assert embedded.output_of("migrate").splitlines()[-2:] == [
        "created again, without their rows: failures",
        "to read again what Kafka still keeps of them: schedmate refill failures",
    ]
    assert embedded.output_of("migrate") == "the tables are up to date\n"
    assert "job_throughput_1m" in embedded.output_of("refill", "nonsense", code=2)


def test_the_embedded_engine_is_asked_in_the_same_way(tmp_path: Path) -> None:
    embedded = Site(f"chdb://{tmp_path}")
    embedded.output_of("migrate")
    assert json.loads(embedded.output_of("query", "--sql", "SELECT count() AS n FROM job_metrics", "--json")) == {
        "n": 0
    }


def test_queries_are_read_only(site: Site) -> None:
    said = site.output_of("query", "--sql", "DROP TABLE failures", code=2)
    assert said.splitlines() == [
        "schedmate: queries are read-only: expected a statement that begins with SELECT, WITH, SHOW, DESCRIBE, EXPLAIN or EXISTS, got DROP"
    ]
    assert site.output_of("query", "--sql", "EXISTS failures", "--csv") == "result\n1\n"
    level = site.output_of("query", "--sql", "SELECT getSetting('readonly') AS level", "--csv")
    assert level == "level\n1\n"


def test_the_embedded_engine_is_read_only_for_queries(tmp_path: Path) -> None:
    embedded, file = Site(f"chdb://{tmp_path / 'engine'}"), tmp_path / "secret"
    file.write_text("hunter2")
    embedded.output_of("migrate")
    for sql in ("DROP TABLE failures", "SELECT 1; DROP TABLE failures", f"SELECT file('{file}')"):
        assert "hunter2" not in embedded.output_of("query", "--sql", sql, code=2)
    assert embedded.output_of("query", "--sql", "EXISTS failures", "--csv") == "result\n1\n"


def test_migrate_does_not_wait_for_ever() -> None:
    nobody = Site(f"http://127.0.0.1:{free_port()}/x")
    assert "nothing listens at" in nobody.output_of("migrate", "--wait", "0.3", code=2)


def test_the_list_of_questions_names_all(site: Site) -> None:
    listed = site.output_of("query")
    assert all(name in listed for name in queries())


def test_a_question_as_table_json_and_csv(site: Site) -> None:
    asked = ("query", "throughput", "job=4711", "limit=1")
    assert "samples/s" in site.output_of(*asked)
    (row,) = [json.loads(line) for line in site.output_of(*asked, "--json").splitlines()]
    assert (row["minute"], row["throughput"], row["reports"]) == ("2026-09-21T14:14:00Z", 256.0, 5)
    (row,) = csv.DictReader(site.output_of(*asked, "--csv").splitlines())
    assert (row["minute"], row["throughput"], row["unit"]) == ("2026-09-21T14:14:00+00:00", "256.0", "samples/s")


def test_since_fills_in_how_far_back_a_question_looks(site: Site) -> None:
    asked = ("query", "slower", "ratio=2", "minutes=0", "--json", "--since")
    assert site.output_of(*asked, "1s") == ""
    assert "takes no --since" in site.output_of("query", "throughput", "job=4711", "--since", "1h", code=2)


def test_sql_of_ones_own_with_a_bound_value(site: Site) -> None:
    sql = "SELECT count() AS n FROM job_metrics WHERE job = {job:String}"
    assert json.loads(site.output_of("query", "--sql", sql, "job=4711", "--json")) == {"n": 10}
    assert json.loads(site.output_of("query", "--sql", sql, "job=x' OR 1=1 --", "--json")) == {"n": 0}


def test_what_a_job_is_called_does_not_reach_the_terminal(site: Site) -> None:
    shown = site.output_of("query", "--sql", "SELECT DISTINCT job FROM job_metrics WHERE job != '4711'")
    assert "[red]job[/red]" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("throughput",), "needs job"),
        (("xyz",), "expected a query, one of"),
        (("verdict",), "did you mean verdicts?"),
        (("failures", "--since", "soon"), "expected --since"),
        (("--sql", "SELECT 1", "--since", "1d"), "takes no --since"),
        (("throughput", "4711"), "expected parameter=value"),
    ],
)
def test_wrong_questions_say_what_is_right(site: Site, arguments: tuple[str, ...], says: str) -> None:
    assert says in site.output_of("query", *arguments, code=2)


@pytest.mark.redis
def test_status_of_all_jobs_of_one_and_of_none(site: Site, tmp_path: Path) -> None:
    with redis_server(tmp_path) as redis:
        check_status(site, redis.url)


def saves(job: str) -> list[tuple[Position, Record]]:
    now = time.time()
    last = Checkpoint(
        id="c1", job=job, number=1, state=CheckpointState.DURABLE, durable_by=DurableBy.COMPLETION, time=now - 750,
        since=now - 750, step=6, path="/run/\x1b[2J6",
    )  # fmt: skip
    under_way = Checkpoint(
        id="c2", job=job, number=2, state=CheckpointState.STARTED, time=now - 1, since=now - 1, usual_duration_s=3.2
    )
    return [(Position("checkpoints", 0, number), each) for number, each in enumerate((last, under_way))]


def check_status(site: Site, url: str) -> None:
    here = {"redis__url": url}
    assert site.output_of("status", **here) == "no jobs\n"
    with open_redis(url) as client:
        RedisState(client).update(
            [
                *metrics("4711"),
                *metrics(ODD),
                (
                    Position("job-events", 0, 1),
                    JobEvent(
                        id="e", job="4711", kind=EventKind.STARTED, time=1.79e9, nodes=["n1"], gpus=8.0, user="ada"
                    ),
                ),
                *saves("4711"),
            ]
        )
    listed = site.output_of("status", **here)
    assert "4711" in listed
    assert "\x1b" not in listed
    one = site.output_of("status", "4711", **here)
    for said in ("running", "n1, 8 GPUs", "by ada", "step 8", "0.25 s/step", "256 samples/s", "slowest rank"):
        assert said in one
    checkpoint = next(line for line in one.splitlines() if line.startswith("checkpoint"))
    assert re.search(r"12 minutes ago, step 6, /run/.*\[2J6", checkpoint)
    assert re.search(r"saving +started \d seconds? ago, usually takes 3 seconds", one)
    assert re.search(r"lost if stopped +2 steps", one)
    assert "\x1b" not in one
    assert json.loads(site.output_of("status", "4711", "--json", **here))["step"] == 8
    assert "nothing is known of job 99" in site.output_of("status", "99", code=1, **here)


def test_status_without_redis_says_so(site: Site) -> None:
    assert "redis.url is empty" in site.output_of("status", code=2, redis__url="")
