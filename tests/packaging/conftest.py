"""What several tests of this folder look at."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers import require

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "schedmate_records",
    "streams",
    "processors",
    "sinks",
    "scheduler_bridge",
    "schedmate",
)


def pip(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=170,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What users install."""
    directory = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--wheel-dir", str(directory), str(ROOT))
    [built] = directory.glob("*.whl")
    return built


def compose_tool() -> list[str]:
    """The plugin where it is, else the program of the same name with a dash."""
    docker = shutil.which("docker")
    if docker and subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode == 0:
        return [docker, "compose"]
    return ["docker-compose"]


def resolve(secrets: Path, *files: Path, **changes: str) -> dict[str, Any]:
    """What Compose makes of the files, of docker-compose.yml where none is named. Raises `CalledProcessError` where it refuses."""
    tool = compose_tool()
    require(
        shutil.which(tool[0]) is not None, "docker-compose", "apt-get install docker-compose, or run make test as root."
    )
    named = [part for file in files or [ROOT / "docker-compose.yml"] for part in ("--file", file)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SCHEDMATE_", "COMPOSE_"))}
    done = subprocess.run(
        [*tool, *named, "--profile", "gpu", "--profile", "dashboards", "config"],
        env=environment | {"SCHEDMATE_SECRETS": str(secrets), **changes},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    resolved: dict[str, Any] = yaml.safe_load(done.stdout)
    return resolved


@pytest.fixture(scope="session")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What packaging/make-secrets.sh makes."""
    directory = tmp_path_factory.mktemp("deploy") / "secrets"
    subprocess.run([ROOT / "packaging" / "make-secrets.sh", directory], check=True, capture_output=True)
    return directory


@pytest.fixture(scope="session")
def stack(secrets: Path) -> Mapping[str, Any]:
    """docker-compose.yml as Compose understands it, all profiles included."""
    return resolve(secrets)
