"""The page on real servers: what an operator says there reaches the topic, and quoted lines are shown among their neighbours."""

import re
import time
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from schedmate_records import Command, LogChunk, OperatorCommand, decode
from streams.kafka import KafkaProducer, read_back
from streams.transport import outgoing
from tests.servers.clickhouse import ClickHouseServer
from tests.servers.kafka import Kafka
from tests.streams.runtimes.workers import command

pytestmark = [pytest.mark.kafka, pytest.mark.clickhouse, pytest.mark.slow]
PATIENCE_S = 60.0


def link(log: Path) -> str:
    """Return the link that the page printed for its operator."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := re.search(r"open (http://\S+)", log.read_text()):
            return found[1]
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def test_an_operator_stops_everything_and_reads_lines(
    kafka: Kafka, clickhouse: ClickHouseServer, tmp_path: Path
) -> None:
    producer = KafkaProducer(kafka.connection)
    chunk = LogChunk(job="page", time=1.0, lines=["before", "CUDA error <b>", "after"], first_line=40)
    sent = time.time()
    producer.send(outgoing(chunk)).result(20)
    producer.close()
    place = next(each.position for each in read_back(kafka.connection, ["job-logs"], sent) if each.key == b"page")
    environment = {"SCHEDMATE_CLICKHOUSE__URL": clickhouse.url, "SCHEDMATE_WEB__ACT": "true"}
    log = tmp_path / "page.log"
    with command(kafka, "migrate", log=tmp_path / "migrate.log", **environment) as migrating:
        assert migrating.wait(PATIENCE_S) == 0
    began = time.time()
    with command(kafka, "web", "--port", "0", log=log, **environment):
        opened = link(log)
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        address = opened.partition("/login")[0]
        browser.open(opened, timeout=PATIENCE_S).close()
        page = browser.open(f"{address}/decisions", timeout=PATIENCE_S).read().decode()
        token = re.search(r'name="token" value="([^"]+)"', page)
        assert token
        form = urllib.parse.urlencode({"token": token[1], "command": "stop", "reason": "a fire"}).encode()
        assert "Stopped." in browser.open(f"{address}/act", form, timeout=PATIENCE_S).read().decode()
        asked = urllib.parse.urlencode(
            {"topic": place.topic, "partition": place.partition, "offset": place.offset, "line": 41}
        )
        lines = browser.open(f"{address}/lines?{asked}", timeout=PATIENCE_S).read().decode()
        assert [text in lines for text in ("before", "CUDA error &lt;b&gt;", "after", 'id="cited"')] == [True] * 4
    written = [decode(OperatorCommand, each.value) for each in read_back(kafka.connection, ["approvals"], began)]
    assert [(each.command, each.reason) for each in written] == [(Command.STOP, "a fire")]
