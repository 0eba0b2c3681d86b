"""CONTRIBUTING.md: what it says to write works as it is written."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from processors.diagnose.catalogue import load
from scheduler_bridge.schedulers import Actuator, ActuatorError, SchedulerJobState
from scheduler_bridge.schedulers.local.actuator import LocalActuator, LocalScheduler
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


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_the_signature_is_taken_and_found(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(shown("A signature", "toml"))
    [signature] = [each for each in load([own]) if each.name == "license_lost"]
    log = tmp_path / "train.log"
    log.write_text(f"{signature.counter}\n{signature.example}\n")
    found = run_forked("--set", f"processors.signatures={own}", "signatures", "test", log)
    assert found.stdout.count(b"license_lost") == 1, found.stdout + found.stderr


def test_the_format_is_read_however_it_is_cut() -> None:
    made: dict[str, tuple[list[str], dict[str, object]]] = {}
    exec(shown("A format", "python"), {**vars(formats), "FORMATS": made})
    [(lines, expected)] = made.values()
    expect_however_cut(lines, expected)


CHECKS: dict[str, Any] = {
    "pytest": pytest,
    "suppress": suppress,
    "Actuator": Actuator,
    "ActuatorError": ActuatorError,
}
exec(shown("An actuator", "python"), CHECKS)


@pytest.fixture
def example(tmp_path: Path) -> dict[str, object]:
    """What the checks of an actuator ask for, of the one in examples/."""
    for name, state in (("failed", "failed"), ("running", "running")):
        job = {"state": state, "attempt": 0, "nodes": ["n1"], "excluded": [], "user": "ada"}
        (tmp_path / f"{name}.json").write_text(json.dumps(job))
    actuator = module(ROOT / "examples" / "actuator.py").DirectoryActuator(tmp_path)
    return {"actuator": actuator, "failed_job": "failed", "running_job": "running"}


@pytest.fixture
def local() -> Iterator[dict[str, object]]:
    """The same of the local scheduler, on real processes."""
    scheduler = LocalScheduler(lambda _: None, lambda _: None, slots=2, grace=1.0)
    fails_once = ["sh", "-c", 'test "$LOCAL_RESTART_COUNT" = 1 && exec sleep 60; exit 3']
    failed, running = scheduler.submit(fails_once), scheduler.submit(["sleep", "60"])
    wanted = {failed: SchedulerJobState.FAILED, running: SchedulerJobState.RUNNING}
    assert scheduler.wait(lambda jobs: {seen.job: seen.state for seen in jobs} == wanted, 20)
    yield {"actuator": LocalActuator(scheduler), "failed_job": failed, "running_job": running}
    scheduler.close()


@pytest.mark.parametrize("stand", ["example", "local"])
@pytest.mark.parametrize("name", [name for name in CHECKS if name.startswith("test_")])
def test_what_holds_for_every_actuator(name: str, stand: str, request: pytest.FixtureRequest) -> None:
    check: Callable[..., None] = CHECKS[name]
    given = request.getfixturevalue(stand)
    check(**{argument: given[argument] for argument in check.__annotations__ if argument in given})


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


@pytest.mark.slow
@pytest.mark.timeout(600)  # mypy reads all of it anew
def test_the_processor_finds_its_place(tree: Path) -> None:
    for block in all_shown("A processor", "python"):
        place, _, content = block.partition("\n")
        file = tree / place.removeprefix("# ")
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    for change in all_shown("A processor", "diff"):
        apply(change, tree)
    run(tree, "-m", "ruff", "check", "processors", "tests/processors/loss_limit")
    run(tree, "-m", "ruff", "format", "--check", "processors", "tests/processors/loss_limit")
    checked = ("tests/processors/loss_limit", "tests/processors/test_packages.py", "tests/test_packages.py")
    run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", *checked, "tests/schedmate/services/test_telemetry.py")
    run(tree, "-m", "mypy", "-p", "processors")
    log = tree / "train.log"
    log.write_text("".join(f"step {step} | loss {step} | step_time 0.2 s\n" for step in range(1, 401)))
    analyzed = run(tree, "-m", "schedmate", "--set", "processors.largest_loss=100", "analyze", "train.log")
    assert "The loss is 400, above 100." in analyzed
    run(tree, "-m", "schedmate.cli.document", "docs")
    assert "schedmate_loss_limit_raised_total" in (tree / "docs" / "metrics.md").read_text()
    assert "largest_loss" in run(tree, "-m", "schedmate", "config", "--example")
    assert "largest_loss" in run(tree, "-m", "schedmate", "--set", "processors.largest_loss=0", "config", fails=True)


@pytest.mark.slow
def test_the_metric_is_counted_and_documented(tree: Path) -> None:
    for change in all_shown("A metric", "diff"):
        apply(change, tree)
    run(tree, "-m", "schedmate.cli.document", "docs")
    assert "schedmate_alarm_monitor_spikes_total" in (tree / "docs" / "metrics.md").read_text()


def test_links_files_and_targets_that_are_named_exist() -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXT):
        name, _, anchor = target.partition("#")
        assert (ROOT / name).exists(), target
        assert not anchor or anchor in anchors(ROOT / name), target
    for path in re.findall(
        r"(?<![\w/])((?:tests|processors|examples|schedmate|scheduler_bridge|docs)/[\w./-]*\w)", TEXT
    ):
        assert (ROOT / path).exists() or "NAME" in path or "loss_limit" in path, path
    makefile = (ROOT / "Makefile").read_text()
    for targets in re.findall(r"^ {4}make ([a-z -]+?)(?: {2,}|$)", TEXT, re.MULTILINE):
        assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets.split())
