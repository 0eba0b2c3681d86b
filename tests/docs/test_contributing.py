"""CONTRIBUTING.md: what it says to write works as it is written."""

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from processors.diagnose.catalogue import load
from scheduler_bridge.actuators import Actuator, ActuatorError
from tests.docs.pages import ROOT, anchors
from tests.processors.track import test_formats as formats
from tests.processors.track.expecting import expect_however_cut

PAGE = ROOT / "CONTRIBUTING.md"
TEXT = PAGE.read_text()


def shown(heading: str, language: str) -> str:
    """The one block in `language` of the section `heading`."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    [block] = re.findall(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return block


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
    command = [sys.executable, "-m", "schedmate", "--set", f"processors.signatures={own}", "signatures", "test", log]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert found.stdout.count("license_lost") == 1, found.stdout + found.stderr


def test_the_format_is_read_however_it_is_cut() -> None:
    made: dict[str, tuple[list[str], dict[str, object]]] = {}
    exec(shown("A format", "python"), {**vars(formats), "FORMATS": made})
    [(lines, expected)] = made.values()
    expect_however_cut(lines, expected)


CHECKS: dict[str, Any] = {"pytest": pytest, "Actuator": Actuator, "ActuatorError": ActuatorError}
exec(shown("An actuator", "python"), CHECKS)


@pytest.mark.parametrize("name", [name for name in CHECKS if name.startswith("test_")])
def test_the_example_answers_what_holds_for_every_actuator(name: str, tmp_path: Path) -> None:
    job = {"state": "failed", "attempt": 0, "nodes": ["n1"], "excluded": [], "user": "ada"}
    (tmp_path / "train-1.json").write_text(json.dumps(job))
    given = {"actuator": module(ROOT / "examples" / "actuator.py").DirectoryActuator(tmp_path), "failed_job": "train-1"}
    check: Callable[..., None] = CHECKS[name]
    check(**{argument: given[argument] for argument in check.__annotations__ if argument in given})


def test_links_files_and_targets_that_are_named_exist() -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXT):
        name, _, anchor = target.partition("#")
        assert (ROOT / name).exists(), target
        assert not anchor or anchor in anchors(ROOT / name), target
    for path in re.findall(
        r"(?<![\w/])((?:tests|processors|examples|schedmate|scheduler_bridge|docs)/[\w./-]*\w)", TEXT
    ):
        assert (ROOT / path).exists() or "NAME" in path, path
    makefile = (ROOT / "Makefile").read_text()
    for targets in re.findall(r"^ {4}make ([a-z -]+?)(?: {2,}|$)", TEXT, re.MULTILINE):
        assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets.split())
