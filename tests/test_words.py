"""Names, comments, texts and pages use the usual words."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REPLACED = re.compile(
    r"(?<![\w.])(?:said|says|say|told|tells|tell|whoever|whom|beside|newcomers?|strangers?|heard|hears|speaks?|spoken?|stands|stood"
    r"|bidden|bury|buried|parted|peace|alike|nobody|dearest)(?!\w)|\"\"\"(?:What|Who) (?:is|are|was) ",
    re.IGNORECASE,
)
"""Words with a plainer equivalent (`reported`, `is`, `with`), and docstrings that begin with a clause instead of a noun or a verb."""
ALLOWED = {
    "schedmate/advisor/history_file.py": "told",  # a table of files that exist
    "schedmate_records/job_event.py": "newcomer",  # a field of a record, and of its table
    "schedmate/demo/checks.py": "newcomer",
    "sinks/clickhouse/tables_of_jobs.py": "newcomer",
}
"""Words that a file may hold, by file."""
CEILINGS = {"schedmate_records": 0, "sinks": 0, "schedmate": 0}
"""Occurrences by folder. The nearest listed folder counts; a number may be lowered, never raised."""
UNREAD = {"api", "man", "schemas"}
"""Folders of generated pages."""


def files() -> Iterator[Path]:
    for folder, kinds in {**dict.fromkeys(PACKAGES, ("py", "html", "sql")), "docs": ("md",)}.items():
        for kind in kinds:
            yield from (ROOT / folder).rglob(f"*.{kind}")


def occurrences() -> Iterator[tuple[str, int, str]]:
    """Yield file, line number and word of every occurrence."""
    for file in files():
        name = str(file.relative_to(ROOT))
        if UNREAD.isdisjoint(file.parts):
            text = file.read_text(encoding="utf-8")
            for found in REPLACED.finditer(text):
                if ALLOWED.get(name, "") != found[0].lower():
                    yield name, text.count("\n", 0, found.start()) + 1, found[0]


def folder_of(name: str) -> str:
    """Return the innermost folder of `CEILINGS` that holds the file `name`."""
    return max((folder for folder in CEILINGS if name.startswith(f"{folder}/")), key=len)


PACKAGES = ("schedmate_records", "processors", "streams", "sinks", "scheduler_bridge", "schedmate")
FOUND = list(occurrences()) if False else []
