"""The workflows, hooks and forms of the repository: they call what exists."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import schedmate
from tests.test_packages import MAY_IMPORT

from .conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(each for each in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if each.stem != "config")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

workflows = pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)


def read(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(file.read_text())
    return content


def steps(file: Path) -> Iterator[dict[str, Any]]:
    for job in read(file)["jobs"].values():
        yield from job["steps"]


@workflows
def test_targets_that_are_made_exist(file: Path) -> None:
    for step in steps(file):
        assert set(re.findall(r"\bmake ([a-z-]+)", step.get("run", ""))) <= TARGETS


@workflows
def test_a_job_ends_and_may_do_little(file: Path) -> None:
    workflow = read(file)
    assert workflow["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())
    for step in steps(file):
        assert "${{" not in step.get("run", ""), "what an event says is data: pass it through env"


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_a_form_asks_for_the_version(form: Path) -> None:
    content = read(form)
    assert {"name", "description", "body"} <= content.keys()
    assert "version" in [each.get("id") for each in content["body"]]


def test_hooks_call_what_make_check_calls() -> None:
    [local] = read(ROOT / ".pre-commit-config.yaml")["repos"]
    called = {hook["entry"].split()[0] for hook in local["hooks"]}
    assert called == {".venv/bin/ruff", ".venv/bin/mypy", ".venv/bin/python"}


def test_documents_are_written_again_where_anything_that_they_come_from_changes() -> None:
    [local] = read(ROOT / ".pre-commit-config.yaml")["repos"]
    [hook] = [each for each in local["hooks"] if each["id"] == "documents"]
    rooms = [f"{room}/any.py" for room in sorted(MAY_IMPORT)]  # each may declare metrics
    for file in (
        *rooms,
        "schedmate/cli/analyze.py",
        "processors/diagnose/catalogue/nccl.toml",
        "schedmate_records/alarm.py",
    ):
        assert re.search(hook["files"], file), f"add what {file} is in to `files` of the hook `documents`"


def test_a_release_finds_its_version() -> None:
    assert re.search(rf"^## {re.escape(schedmate.__version__)} ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert f'__version__ = "{schedmate.__version__}"\n' in (ROOT / "schedmate" / "__init__.py").read_text()
