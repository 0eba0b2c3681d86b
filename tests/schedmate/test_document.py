"""Generated documents are those that the code would write now."""

from pathlib import Path

from schedmate.document import documents

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_generated_documents_are_fresh() -> None:
    stale = [
        name for name, text in documents().items() if not (DOCS / name).exists() or (DOCS / name).read_text() != text
    ]
    assert not stale, f"run `make docs`: {', '.join(stale)} differ from the code"


def test_every_metric_is_explained() -> None:
    rows = [line for line in documents()["metrics.md"].splitlines() if line.startswith("| `schedmate_")]
    assert rows
    assert all(len(row.split("|")[5].strip()) > 10 for row in rows), "a metric's help does not say what it means"
