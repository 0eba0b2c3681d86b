"""Names, comments, messages and pages use the usual words."""

import re
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
    "schedmate/advisor/history_file.py": {"told"},  # a table of existing files
    "schedmate_records/job_event.py": {"newcomer"},  # a field of a record
    "sinks/clickhouse/queries/disagreements.sql": {"said"},  # columns of views
    "sinks/clickhouse/queries/node_findings.sql": {"told"},
    "schedmate/pipe.py": {"say"},  # a function of `streams`
}
"""Words that a file may hold."""
CEILINGS = {
    "docs": 5,
    "processors": 85,
    "schedmate": 0,
    "schedmate/analysis": 19,
    "schedmate/models": 2,
    "schedmate/simulate": 13,
    "schedmate_records": 0,
    "scheduler_bridge": 82,
    "sinks": 0,
    "streams": 60,
}
"""Most occurrences in a folder, without the folders in it that have a number of their own. Lower a number, never raise it."""
SKIPPED = {"api", "schemas", "migrations"}
"""Folders of generated pages, and of migrations, which never change."""


def occurrences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the word of every occurrence."""
    for found in REPLACED.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, found[0].lower()


def files() -> Iterator[Path]:
    for folder in CEILINGS:
        if "/" not in folder:
            kinds = {".md"} if folder == "docs" else {".py", ".html", ".sql"}
            yield from (file for file in (ROOT / folder).rglob("*.*") if file.suffix in kinds)


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    """Return the occurrences by folder, each as `file:line: word`."""
    places: dict[str, list[str]] = {folder: [] for folder in CEILINGS}
    for file in files():
        name = str(file.relative_to(ROOT))
        if SKIPPED.isdisjoint(file.parts):
            folder = max((each for each in CEILINGS if name.startswith(f"{each}/")), key=len)
            allowed = ALLOWED.get(name, set())
            places[folder] += [
                f"{name}:{line}: {word}"
                for line, word in occurrences(file.read_text(encoding="utf-8"))
                if word not in allowed
            ]
    return places


@pytest.mark.parametrize("folder", CEILINGS)
def test_a_folder_holds_no_more_replaced_words_than_its_ceiling(folder: str, found: dict[str, list[str]]) -> None:
    assert len(found[folder]) <= CEILINGS[folder], "\n".join(found[folder][-20:])


def test_words_are_found_in_comments_names_and_docstrings() -> None:
    text = 'told = 1  # whoever\ndef f():\n    """What is seen."""\n    file.tell()\n    unsaid = 2\n'
    assert list(occurrences(text)) == [(1, "told"), (1, "whoever"), (3, '"""what is ')]
