"""Links, files, metrics and settings that the pages name exist."""

import re
from pathlib import Path

import pytest

from schedmate.settings.settings import Settings
from schedmate_records import AlarmKind

from .metrics import NAMES
from .pages import PAGES, ROOT, WRITTEN, anchors

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
written = pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)


@pages
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{page.name} links to {target}: there is no such heading"


@written
def test_files_that_are_named_exist(page: Path) -> None:
    packages = "schedmate_records|streams|processors|sinks|scheduler_bridge|schedmate"
    packages += "|packaging|tests|benchmarks|docs"
    for path in re.findall(rf"`((?:{packages})/[\w./-]+)`", page.read_text()):
        assert (ROOT / path).exists() or path.startswith("packaging/secrets"), f"{page.name} names {path}"


@pages
def test_metrics_that_are_named_exist(page: Path) -> None:
    for name in re.findall(r"\bschedmate_(?!records)[a-z_]+\b", page.read_text()):
        assert name in NAMES, f"{page.name} names {name}"


@pages
def test_settings_that_are_named_exist(page: Path) -> None:
    text = page.read_text()
    sections = Settings.model_fields
    named = [*re.findall(rf"`({'|'.join(sections)})\.(\w+)`", text)]
    named += [(section.lower(), name.lower()) for section, name in re.findall(r"SCHEDMATE_([A-Z]+)__([A-Z_]+)", text)]
    for section, name in named:
        model = sections[section].annotation
        assert model is not None
        assert name in model.model_fields, f"{page.name} names {section}.{name}"


def test_another_page_leads_to_every_page() -> None:
    for page in PAGES:
        if page.name in ("README.md", "index.md"):
            continue  # where readers of the repository and of the site begin
        others = [other.read_text() for other in PAGES if other != page]
        assert any(re.search(rf"\]\((docs/)?{re.escape(page.name)}[#)]", text) for text in others), page.name


def test_every_kind_of_alarm_is_explained() -> None:
    for kind in AlarmKind:
        assert f"| `{kind}` |" in (ROOT / "docs" / "alarms.md").read_text()
        assert f"`alarm_{kind}`" in (ROOT / "docs" / "redis.md").read_text()


def test_the_list_of_examples_names_all() -> None:
    page = ROOT / "examples" / "README.md"
    links = re.findall(r"\]\(([^)\s#]+)", page.read_text())
    assert all((page.parent / target).exists() for target in links)
    there = {each.name + "/" * each.is_dir() for each in page.parent.iterdir()} - {page.name, "__pycache__/"}
    assert there == set(re.findall(r"`([\w.]+/?)`(?:,| \|)", page.read_text()))
