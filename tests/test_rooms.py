"""Arrows between the rooms go one way."""

from pathlib import Path

import pytest

from tests.imported import circle, modules, rooms

ROOT = Path(__file__).resolve().parents[1]
MAY_IMPORT = {
    "records": set(),
    "resilience": set(),
    "eviction": set(),
    "scheduler_clients": {"records", "resilience"},
    "processors": {"records", "eviction"},
    "sinks": {"records"},
    "scheduler_bridge": {"records", "resilience", "eviction", "scheduler_clients"},
    "simulate": {"records", "eviction", "processors"},
    "streams": {"records", "resilience", "scheduler_clients", "processors"},
}
ROOMS = {*MAY_IMPORT, "schedmate"}


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_a_room_imports_only_rooms_below_it(room: str) -> None:
    found = {
        (str(file.relative_to(ROOT)), name)
        for file in (ROOT / room).rglob("*.py")
        for name in rooms(file)
        if name in ROOMS - {room} - MAY_IMPORT[room]
    }
    assert not found


def test_no_file_imports_itself_by_a_detour() -> None:
    graph = modules(ROOT, ROOMS)
    assert {"records", "processors.stage"} <= graph["processors.job"], "the imports were read"
    assert circle(graph) == []


def test_a_circle_would_be_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
