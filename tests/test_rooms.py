"""Arrows between the rooms go one way."""

import ast
from pathlib import Path

import pytest

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
        for name in _imported(file)
        if name in ROOMS - {room} - MAY_IMPORT[room]
    }
    assert not found


def _imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names
