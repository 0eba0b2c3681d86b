"""README.md is short, and its measured results are those of docs/benchmarks.md."""

import re
from pathlib import Path

import pytest

from .pages import PAGES, ROOT

TEXT = (ROOT / "README.md").read_text()
BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text()
PUBLISHED = [
    *PAGES,
    *(ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "pyproject.toml", "mkdocs.yml")),
    ROOT / "packaging" / "helm" / "schedmate" / "Chart.yaml",
    ROOT / "packaging" / "prometheus" / "schedmate.rules.yml",
    *sorted((ROOT / "docs" / "man").glob("*.1")),
]
"""Files that users read, and in which an address of the project would be a promise."""


def section(heading: str) -> str:
    """Return the text below a heading of README.md."""
    return TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def test_readme_has_at_most_900_words() -> None:
    assert len(TEXT.split()) <= 900


def test_readme_links_every_feature_to_a_page() -> None:
    features = re.findall(r"^- .+$", section("What it does"), re.MULTILINE)
    assert len(features) == 10
    assert all("](docs/" in feature for feature in features)


def test_measured_results_are_on_the_page_of_benchmarks() -> None:
    rows = re.findall(r"^\| (?!what|---)(.+) \| (.+) \|$", section("Measured"), re.MULTILINE)
    assert len(rows) == 10
    for what, result in rows:
        for figure in re.findall(r"\d[\d,.]*(?: %)?", result):
            assert figure in BENCHMARKS, f"{what}: {figure} is not in docs/benchmarks.md"


@pytest.mark.parametrize("file", PUBLISHED, ids=lambda file: file.name)
def test_no_file_names_an_address_that_does_not_exist(file: Path) -> None:
    assert not re.search(r"schedmate\.github\.io|github\.com/schedmate|pypi\.org/project/schedmate", file.read_text())
