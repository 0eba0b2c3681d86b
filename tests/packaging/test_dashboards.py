"""The dashboards that ship: every question is asked, and every link leads somewhere. Grafana itself is not started."""

import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from schedmate_records import Position
from sinks.clickhouse.queries import ask, run
from sinks.clickhouse.writer import ClickHouseWriter
from tests.docs.metrics import METRICS
from tests.schedmate.web.history import write
from tests.servers import free_port, require
from tests.servers.kafka import Kafka
from tests.sinks.clickhouse.week import STRAGGLERS
from tests.sinks.conftest import Embedded, embedded
from tests.streams.runtimes.workers import command

from .conftest import ROOT

__all__ = ["embedded"]

FOLDER = ROOT / "packaging" / "grafana"
BOARDS = {file.stem: json.loads(file.read_text()) for file in sorted((FOLDER / "dashboards").glob("*.json"))}
PANELS = [(f"{name}: {panel['title']}", panel) for name, board in BOARDS.items() for panel in board["panels"]]
ASKED = [
    (title, target, panel)
    for title, panel in PANELS
    for target in panel["targets"]
    if panel["datasource"]["uid"] == "schedmate-clickhouse"
]
EXPRESSIONS = [target["expr"] for _, panel in PANELS for target in panel["targets"] if "expr" in target]
PATIENCE_S = 60.0


def expanded(sql: str) -> str:
    """What Grafana's plugin makes of a question, for the job `again` and the last day."""
    sql = re.sub(
        r"\$__timeFilter\(([\w.]+)\)", r"(\1 >= now() - INTERVAL 1 DAY AND \1 <= now() + INTERVAL 1 HOUR)", sql
    )
    sql = sql.replace("${job:sqlstring}", "'again'")
    assert "$" not in sql
    return sql


@pytest.fixture(scope="module")
def history(embedded: Embedded) -> Embedded:
    write(embedded)
    return embedded


@pytest.mark.parametrize(("title", "target", "panel"), ASKED, ids=[title for title, _, _ in ASKED])
def test_a_question_has_an_answer(title: str, target: dict[str, Any], panel: dict[str, Any], history: Embedded) -> None:
    answer = ask(history.client, expanded(target["rawSql"]), {})
    assert len(set(answer.columns)) == len(answer.columns)
    linked = {each["matcher"]["options"] for each in panel["fieldConfig"]["overrides"]}
    if answer.rows:  # the embedded engine names no columns where there are no rows
        assert linked <= set(answer.columns)
        assert panel["type"] != "timeseries" or answer.columns[0] == "at", "Grafana takes the first column for the time"
    if title in {
        "jobs: Running jobs",
        "jobs: Jobs",
        "failures: Newest verdicts",
        "job: Step time",
        "nodes: GPU utilisation by node",
    }:
        assert answer.rows


def test_the_dashboard_shows_the_nodes_that_the_question_names(history: Embedded) -> None:
    ClickHouseWriter(history.connect).write(
        [(Position("stragglers", 0, offset), record) for offset, record in enumerate(STRAGGLERS)]
    )
    (sql,) = [target["rawSql"] for title, target, _ in ASKED if title == "nodes: Nodes that slow several jobs"]
    answer, asked = ask(history.client, expanded(sql), {}), run(history.client, "straggler_nodes")
    (row,), (named,) = [[dict(zip(each.columns, row, strict=True)) for row in each.rows] for each in (answer, asked)]
    assert row.items() <= named.items()
    assert (row["node"], row["slowed_jobs"]) == ("n8", 3)


@pytest.mark.parametrize("name", BOARDS)
def test_a_dashboard_is_whole(name: str) -> None:
    board = BOARDS[name]
    sources = yaml.safe_load((FOLDER / "provisioning" / "datasources" / "schedmate.yml").read_text())["datasources"]
    known = {each["uid"]: each["type"] for each in sources}
    uids = {each["uid"] for each in BOARDS.values()}
    assert len(uids) == len(BOARDS)
    for panel in board["panels"]:
        for source in (panel["datasource"], *(target["datasource"] for target in panel["targets"])):
            assert known[source["uid"]] == source["type"]
        for link in re.findall(r'"/d/([\w-]+)/', json.dumps(panel)):
            assert link in uids
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


@pytest.mark.parametrize("name", BOARDS)
def test_panels_do_not_overlap(name: str) -> None:
    places = [panel["gridPos"] for panel in BOARDS[name]["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or below


def test_expressions_rest_on_metrics_that_exist() -> None:
    assert set(re.findall(r"\bschedmate_\w+", " ".join(EXPRESSIONS))) <= METRICS


@pytest.mark.kafka
@pytest.mark.slow
class TestOnPrometheus:
    """A real Prometheus scrapes a real worker."""

    @pytest.fixture
    def prometheus(self, kafka: Kafka, tmp_path: Path) -> Iterator[str]:
        require(
            shutil.which("prometheus") is not None,
            "prometheus",
            "apt-get install prometheus, or run make test as root.",
        )
        port, worker = free_port(), free_port()
        settings = yaml.safe_load((ROOT / "packaging" / "prometheus" / "prometheus.yml").read_text())
        settings["global"]["scrape_interval"] = "1s"
        settings["rule_files"] = [str(ROOT / "packaging" / "prometheus" / "schedmate.rules.yml")]
        for scrape in settings["scrape_configs"]:
            del scrape["dns_sd_configs"]
            scrape["static_configs"] = [{"targets": [f"127.0.0.1:{worker}"]}]
        config = tmp_path / "prometheus.yml"
        config.write_text(yaml.safe_dump(settings))
        arguments = [
            f"--config.file={config}",
            f"--storage.tsdb.path={tmp_path / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        log = tmp_path / "worker.log"
        with (
            command(kafka, "worker", log=log, SCHEDMATE_SERVICE__PORT=str(worker)),
            (tmp_path / "prometheus.log").open("w") as said,
            subprocess.Popen(["prometheus", *arguments], stdout=said, stderr=said, env=os.environ.copy()) as started,
        ):
            yield f"http://127.0.0.1:{port}"
            started.terminate()

    def test_every_expression_is_answered(self, prometheus: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not (found := self.ask(prometheus, "sum(up) > 0")) and time.monotonic() < deadline:
            time.sleep(0.5)
        assert found, "it scrapes the worker"
        for expression in EXPRESSIONS:
            self.ask(prometheus, expression)
        assert self.ask(prometheus, "schedmate_build_info")

    @staticmethod
    def ask(address: str, expression: str) -> list[Any]:
        query = urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(f"{address}/api/v1/query?{query}", timeout=10) as answer:
                told = json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.SERVICE_UNAVAILABLE:  # it is still starting
                return []
            raise AssertionError(f"{expression}: {error.read().decode()}") from error
        except OSError:
            return []
        assert told["status"] == "success", expression
        found: list[Any] = told["data"]["result"]
        return found

    def test_the_configuration_is_accepted(self) -> None:
        require(
            shutil.which("promtool") is not None, "promtool", "apt-get install prometheus, or run make test as root."
        )
        file = ROOT / "packaging" / "prometheus" / "prometheus.yml"
        done = subprocess.run(["promtool", "check", "config", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
