"""Installs an example in a directory of its own, and runs commands that find it there."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.docs.pages import ROOT


def install_example(name: str, directory: Path) -> Mapping[str, str]:
    """Install `examples/NAME` below `directory`; return the variables of a process that finds it."""
    source, target = directory / "source", directory / "installed"
    shutil.copytree(ROOT / "examples" / name, source, ignore=shutil.ignore_patterns("__pycache__"))
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    install = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)]
    done = subprocess.run(install, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("SCHEDMATE_")},
        "PYTHONPATH": f"{target}{os.pathsep}{ROOT}",
        "SCHEDMATE_CONFIG": os.devnull,
    }


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "schedmate", *map(str, arguments)]


def run(variables: Mapping[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), env=dict(variables), capture_output=True, text=True, check=False, timeout=60
    )


def run_tests(name: str, variables: Mapping[str, str]) -> str:
    """Run the tests of `examples/NAME`; return their output."""
    tests = ROOT / "examples" / name / "tests"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tests}", "-c", os.devnull, tests],
        env={**variables, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
