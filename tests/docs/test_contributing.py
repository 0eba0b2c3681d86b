"""CONTRIBUTING.md: what it says to write works as it is written."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from processors.diagnose import catalogue
from schedmate.plugins.schedulers import actuator
from schedmate.settings.settings import load
from scheduler_bridge.schedulers import ActuatorError
from tests.processors.track import test_formats as formats
from tests.processors.track.expecting import expect_however_cut
from tests.schedmate.forked import run_forked

from .pages import ROOT, anchors

PACKAGES = (
    "schedmate_records",
    "streams",
    "processors",
    "sinks",
    "scheduler_bridge",
    "schedmate",
)
TEXT = (ROOT / "CONTRIBUTING.md").read_text()


def all_shown(heading: str, language: str) -> list[str]:
    """The blocks in `language` of the section `heading`."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


def shown(heading: str, language: str) -> str:
    """The one block in `language` of the section `heading`."""
    [block] = all_shown(heading, language)
    return block


def apply(change: str, tree: Path) -> None:
    """Change a file of `tree` as a block in the form of a diff says: its lines must stand in the file exactly once."""
    head, *lines = change.splitlines()
    file = tree / head.removeprefix("--- ")
    before, after = ("\n".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +"))
    text = file.read_text()
    assert text.count(before) == 1, f"{file.name} holds {text.count(before)} times:\n{before}"
    file.write_text(text.replace(before, after))


def test_the_signature_is_taken_and_found(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(shown("A signature", "toml"))
    [signature] = [each for each in catalogue.load([own]) if each.name == "license_lost"]
    log = tmp_path / "train.log"
    log.write_text(f"{signature.counter}\n{signature.example}\n")
    found = run_forked("--set", f"processors.signatures={own}", "signatures", "test", log)
    assert found.stdout.count(b"license_lost") == 1, found.stdout + found.stderr


def test_the_format_is_read_however_it_is_cut() -> None:
    made: dict[str, tuple[list[str], dict[str, object]]] = {}
    exec(shown("A format", "python"), {**vars(formats), "FORMATS": made})
    [(lines, expected)] = made.values()
    expect_however_cut(lines, expected)


IMPORTS = """
from pydantic import BaseModel, Field
from schedmate_records import Action
from scheduler_bridge.schedulers import Actuator, JobView
from scheduler_bridge.schedulers.scheduler import Scheduler, SchedulerSettings
"""


def test_scheduler_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "schedmate_pbs.py").write_text(IMPORTS + shown("A scheduler", "python"))
    groups = tomllib.loads(shown("A scheduler", "toml"))["project"]["entry-points"]
    metadata = tmp_path / "schedmate_pbs-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: schedmate-pbs\nVersion: 1.0\n")
    lines = [f"[{group}]\n{name} = {to}" for group, entries in groups.items() for name, to in entries.items()]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SCHEDMATE_CONFIG", os.devnull)
    made = actuator(load(flags={"bridge.scheduler": "pbs", "pbs.server": "head"}))
    assert vars(made) == {"server": "head"}
    with pytest.raises(ActuatorError, match="a scheduler that can restart"):
        made.restart("1", (), "restart/0123456789abcdef")
    assert (made.nodes(), made.job("1")) == ([], None)


def test_section_about_schedulers_is_short() -> None:
    section = TEXT.partition("\n## A scheduler\n")[2].partition("\n## ")[0]
    assert len(section.split()) <= 250


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the code, to be changed."""
    for folder in (*PACKAGES, "tests", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / file, tmp_path)
    return tmp_path


def run(tree: Path, *arguments: str, fails: bool = False) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("heading", ["A stage", "A notification channel"])
def test_entry_points_and_classes_are_those_of_the_example(heading: str) -> None:
    example = ROOT / "examples" / "plugin"
    assert shown(heading, "toml") in (example / "pyproject.toml").read_text()
    source = (example / "schedmate_site" / "loss_limit.py").read_text()
    for line in (line.partition("  #")[0] for block in all_shown(heading, "python") for line in block.splitlines()):
        assert line in source.splitlines()


@pytest.mark.slow
def test_the_metric_is_counted_and_documented(tree: Path) -> None:
    for change in all_shown("A metric", "diff"):
        apply(change, tree)
    run(tree, "-m", "schedmate.document", "docs")
    assert "schedmate_alarm_monitor_spikes_total" in (tree / "docs" / "metrics.md").read_text()


def test_links_files_and_targets_that_are_named_exist() -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXT):
        name, _, anchor = target.partition("#")
        assert (ROOT / name).exists(), target
        assert not anchor or anchor in anchors(ROOT / name), target
    for path in re.findall(
        r"(?<![\w/])((?:tests|processors|examples|schedmate|scheduler_bridge|docs)/[\w./-]*\w)", TEXT
    ):
        assert (ROOT / path).exists(), path
    makefile = (ROOT / "Makefile").read_text()
    for targets in re.findall(r"^ {4}make ([a-z -]+?)(?: {2,}|$)", TEXT, re.MULTILINE):
        assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets.split())
