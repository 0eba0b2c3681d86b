"""Generated documents are those that the code would write now."""

import sys
from pathlib import Path

import pytest

from schedmate import document
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
    assert all(len(row.split("|")[2].strip()) > 10 for row in rows), "a metric's help does not say what it means"


def test_changed_files_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["document", str(tmp_path)])
    monkeypatch.setattr(document, "documents", lambda: {"metrics.md": "new", "rights.md": "same"})
    (tmp_path / "rights.md").write_text("same")
    document.main()
    assert capsys.readouterr().out.splitlines() == [f"wrote {tmp_path}/metrics.md"]
    document.main()
    assert capsys.readouterr().out == f"all 2 files below {tmp_path} are up to date\n"
