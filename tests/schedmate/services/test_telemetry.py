"""Metrics: declared once, named as Prometheus has it, served over HTTP."""

import re
import socket
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from tests.test_rooms import ROOMS

from schedmate.services import telemetry as under_test
from schedmate.services.metrics import GROUPS
from schedmate.services.telemetry import Telemetry
from tests.docs.metrics import FAMILIES

ROOT = Path(__file__).parents[3]


def test_metrics_are_named_as_prometheus_has_it() -> None:
    for family in FAMILIES:
        _is_named_well(family)


def _is_named_well(family: Metric) -> None:
    assert re.fullmatch(r"schedmate(_[a-z0-9]+)+", family.name)
    assert not family.name.endswith("_total"), "the client adds it to counters"
    assert not re.search(r"_(s|ms|kb|mb)$", family.name), "base units, spelt out: seconds, bytes"
    assert family.unit == next((unit for unit in ("seconds", "bytes") if family.name.endswith(f"_{unit}")), "")
    assert family.type != "histogram" or family.unit, "what is measured has a unit"
    assert family.documentation.endswith(".")
    assert family.samples, "every label value is there from the start, so that increase() sees its first event"


def test_every_name_is_declared_once() -> None:
    names = [family.name for family in FAMILIES]
    assert len(names) == len(set(names))


def test_every_group_of_the_rooms_is_listed() -> None:
    declared = {
        name
        for room in ROOMS
        for file in (ROOT / room).rglob("*.py")
        for name in re.findall(r"^class (\w*Metrics)\b", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert declared
    unlisted = declared - {kind.__name__ for _, make in GROUPS for kind in type(make()).__mro__}
    assert not unlisted, f"list {', '.join(sorted(unlisted))} in GROUPS of schedmate/services/metrics.py"


def test_nothing_is_in_the_global_registry() -> None:
    for _, make in GROUPS:
        make()
    assert not [family.name for family in REGISTRY.collect() if family.name.startswith("schedmate")]


def test_what_is_exported_is_served() -> None:
    groups = [make() for _, make in GROUPS]
    telemetry = Telemetry()
    telemetry.export(*groups)
    port = telemetry.serve("127.0.0.1", 0)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            served = {family.name: family for family in text_string_to_metric_families(answer.read().decode())}
    finally:
        telemetry.close()
    assert {family.name for family in FAMILIES} <= served.keys()
    assert not [name for name in served if name.endswith("_created")]
    assert served["schedmate_build_info"].samples[0].labels["version"]
    assert "process_resident_memory_bytes" in served


@pytest.fixture
def port() -> Iterator[int]:
    telemetry = Telemetry()
    yield telemetry.serve("127.0.0.1", 0)
    telemetry.close()


def half_open(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(b"GET /metrics HTTP/1.1\r\nX-Slow: ")
    return connection


def is_cut_off(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_a_request_that_drips_is_cut_off(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "REQUEST_S", 0.2)
    stop = threading.Event()

    def drip(connection: socket.socket) -> None:
        try:
            while not stop.wait(0.01):
                connection.sendall(b"x")
        except OSError:
            return

    with half_open(port) as connection:
        threading.Thread(target=drip, args=(connection,), daemon=True).start()
        assert is_cut_off(connection)
        stop.set()


def test_half_open_requests_leave_room_for_a_scrape(port: int) -> None:
    before = threading.active_count()
    waiting = [half_open(port) for _ in range(400)]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=60) as answer:
        assert answer.status == 200
    assert all(is_cut_off(each) for each in waiting[:300])
    assert threading.active_count() - before < 300
    for each in waiting:
        each.close()
