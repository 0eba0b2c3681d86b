"""Log events have names that a search finds, and say the rest by key and value."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.test_packages import MAY_IMPORT, ROOT

_EVENT = re.compile(r'\blog\.(?:debug|info|warning|error|exception|critical)\(\s*(f?"[^"\n]*")')
_NAME = re.compile(r'"[a-z][a-z0-9_]*"')


def events() -> Iterator[tuple[Path, str]]:
    for room in sorted(MAY_IMPORT):
        for file in (ROOT / room).rglob("*.py"):
            yield from ((file.relative_to(ROOT), found) for found in _EVENT.findall(file.read_text(encoding="utf-8")))


def test_events_are_named_in_one_style() -> None:
    found = list(events())
    assert len(found) > 50, "the calls were found"
    assert [(file, event) for file, event in found if not _NAME.fullmatch(event)] == []
