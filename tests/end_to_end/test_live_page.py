"""An open page follows Kafka: what the bridge decides appears without a reload, and it says when Kafka is away."""

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedmate_records import Action, Decision, Mode
from streams.kafka import KafkaProducer
from streams.transport import outgoing
from tests.servers.clickhouse import ClickHouseServer
from tests.servers.kafka import Kafka
from tests.servers.redis import RedisServer
from tests.streams.runtimes.workers import command, until

playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.kafka,
    pytest.mark.clickhouse,
    pytest.mark.redis,
    pytest.mark.slow,
    pytest.mark.timeout(480),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; apt-get install chromium"),
]
PATIENCE_MS = 60_000
PROMPT_S = 10.0
"""Less than the time after which a page looks for itself. On an idle machine it takes one second."""


@pytest.fixture
def tab() -> Iterator["playwright.Page"]:
    with playwright.sync_playwright() as started:
        # Inside a container Chromium has no sandbox of its own; it sees only this page.
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_page()
        opened.set_default_timeout(PATIENCE_MS)
        yield opened
        browser.close()


def decide(broker: Kafka, job: str) -> float:
    """Write a decision on `job`, and return when."""
    now = time.time()
    producer = KafkaProducer(broker.connection)
    known = {"action": Action.RESTART, "mode": Mode.SHADOW, "policy": "restart", "reason": "it failed"}
    record = Decision(id=f"restart/{job}", job=job, time=now, expires=now + 600, **known)  # type: ignore[arg-type]
    producer.send(outgoing(record)).result(60)
    producer.close()
    return time.monotonic()


def test_a_decision_appears_on_an_open_page(
    own_kafka: Kafka, clickhouse: ClickHouseServer, redis_store: RedisServer, tab: "playwright.Page", tmp_path: Path
) -> None:
    environment = {"SCHEDMATE_CLICKHOUSE__URL": clickhouse.url, "SCHEDMATE_REDIS__URL": redis_store.url}
    page, sink = tmp_path / "page.log", tmp_path / "sink.log"
    with command(own_kafka, "migrate", log=tmp_path / "migrate.log", **environment) as migrating:
        assert migrating.wait(60) == 0
    with (
        command(own_kafka, "sink", log=sink, **environment),
        command(own_kafka, "web", "--port", "0", log=page, **environment) as serving,
    ):
        until(lambda: "serving http" in page.read_text(), page)
        address = re.search(r"serving (http://\S+?)/", page.read_text())
        assert address
        decide(own_kafka, "early")
        tab.goto(f"{address[1]}/decisions")
        tab.get_by_role("status").filter(has_text="Live.").wait_for()
        tab.get_by_role("link", name="early", exact=True).wait_for()  # the sink is at work
        loads = tab.evaluate("performance.timeOrigin")

        written = decide(own_kafka, "late")
        tab.get_by_role("link", name="late", exact=True).wait_for()
        taken = time.monotonic() - written
        print(f"shown {taken:.2f} s after it was written")
        assert taken < PROMPT_S
        assert tab.evaluate("performance.timeOrigin") == loads, "it was not loaded again"

        own_kafka.kill()
        tab.get_by_role("status").filter(has_text="renewed every 15 seconds").wait_for()
        own_kafka.start()
        tab.get_by_role("status").filter(has_text="Live.").wait_for()
        serving.terminate()
        assert serving.wait(30) is not None, "an open stream does not keep it from ending"
