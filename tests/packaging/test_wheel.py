"""What users install: the wheel, built and used from a directory that has nothing else of ours."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import schedmate

from .conftest import ROOMS, ROOT, pip

pytestmark = pytest.mark.slow  # the wheel is built and installed

NOT_SHIPPED = {"__pycache__"}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that holds the wheel alone; what it depends on comes from the environment of the tests."""
    directory = tmp_path_factory.mktemp("installed")
    pip("install", "--no-deps", "--no-compile", "--target", str(directory), str(wheel))
    return directory


def run(installed: Path, *command: str) -> str:
    return subprocess.run(
        command,
        env={"PATH": os.environ["PATH"], "HOME": str(installed), "PYTHONPATH": str(installed)},
        cwd=installed.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout


def test_every_file_of_every_room_is_in_it(wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    present = {
        str(file.relative_to(ROOT))
        for room in ROOMS
        for file in (ROOT / room).rglob("*")
        if file.is_file() and not NOT_SHIPPED & set(file.parts)
    }
    kinds = {Path(name).suffix for name in present}
    assert {".py", ".typed", ".sql", ".toml", ".jsonl"} <= kinds
    assert present - packed == set()


def test_it_is_typed_and_licensed_and_holds_nothing_else(wheel: Path) -> None:
    packed = zipfile.ZipFile(wheel).namelist()
    assert {f"{room}/py.typed" for room in ROOMS} <= set(packed)
    information = f"schedmate-{schedmate.__version__}.dist-info"
    assert {name.split("/")[0] for name in packed} == {*ROOMS, information}
    assert f"{information}/licenses/LICENSE" in packed


def test_the_command_runs_from_it(installed: Path) -> None:
    answer = run(installed, sys.executable, str(installed / "bin" / "schedmate"), "--version")
    assert answer == f"schedmate {schedmate.__version__}\n"


def test_all_rooms_are_imported_from_it(installed: Path) -> None:
    program = f"import {', '.join(ROOMS)}\nfor room in ({', '.join(ROOMS)}): print(room.__file__)"
    for line in run(installed, sys.executable, "-c", program).splitlines():
        assert Path(line).is_relative_to(installed), line
