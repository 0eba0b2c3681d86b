"""The documentation as a site: built strictly, so that a page without a place, a dead link or a missing docstring fails."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from schedmate_records import TOPICS
from tests.servers import require

from .pages import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require(importlib.util.find_spec("mkdocs") is not None, "MkDocs", "Run make test, or pip install --group dev.")
    directory = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", directory],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert built.returncode == 0, built.stderr
    return directory


@pytest.mark.slow
def test_every_page_is_there(site: Path) -> None:
    for page in [*(ROOT / "docs").rglob("*.md")]:
        name = page.relative_to(ROOT / "docs").with_suffix("")
        place = name.parent if name.name in ("index", "README") else name
        assert (site / place / "index.html").is_file(), page
    assert (site / "contributing" / "index.html").is_file()


@pytest.mark.slow
def test_the_api_pages_show_docstrings(site: Path) -> None:
    assert "dealt with, whether carried out or not" in (site / "api" / "subscriber" / "index.html").read_text()
    assert "Put a failed job back in the queue" in (site / "api" / "actuators" / "index.html").read_text()
    assert "exclude_nodes" in (site / "api" / "records" / "index.html").read_text()


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        (None, "[page](web.md#live), benchmarks/chaos and scores (`benchmarks/corpus/README.md`)"),
        (
            "https://git.example/schedmate/",
            (
                "[page](web.md#live), [benchmarks/chaos](https://git.example/schedmate/blob/main/benchmarks/chaos/README.md)"
                " and [scores](https://git.example/schedmate/blob/main/benchmarks/corpus/README.md#scores)"
            ),
        ),
    ],
)
def test_links_out_of_docs_lead_to_the_repository_or_become_text(repository: str | None, expected: str) -> None:
    specification = importlib.util.spec_from_file_location("mkdocs_hooks", ROOT / "packaging" / "mkdocs_hooks.py")
    assert specification
    assert specification.loader
    hooks = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(hooks)
    page = SimpleNamespace(file=SimpleNamespace(src_uri="architecture.md"))
    text = "[page](web.md#live), [benchmarks/chaos](../benchmarks/chaos/README.md) and [scores](../benchmarks/corpus/README.md#scores)"
    assert hooks.on_page_markdown(text, page, SimpleNamespace(repo_url=repository), None) == expected


def test_every_record_has_its_place_among_the_api_pages() -> None:
    page = (ROOT / "docs" / "api" / "records.md").read_text()
    for topic in TOPICS:
        assert f"::: {topic.record.__module__}.{topic.record.__qualname__}\n" in page


@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    page = (site / "index.html").read_text()
    assert "fonts.g" not in page
    assert '<script src="http' not in page
