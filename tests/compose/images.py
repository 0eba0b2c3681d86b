"""The images of the stack, built from packages: none is pulled.

They stand in for the official images under their names, with the same paths, users and entry variables. Python is Debian's 3.11
and not 3.12, Redis is a packaged 8.2, Kafka is its jars, and ClickHouse is its engine behind the tests' HTTP front.
"""

import os
import shutil
import subprocess
from pathlib import Path

from tests.servers import require
from tests.servers.kafka import LIBS

from .engine import CACHE, Engine

ROOT = Path(__file__).resolve().parents[2]
IMAGES = Path(__file__).parent / "images"
DEBIAN = "schedmate-test/debian:bookworm"
STAND_INS = {
    "python": "python:3.12.12-slim-bookworm",
    "kafka": "apache/kafka:4.1.1",
    "redis": "redis:8.2.3",
    "clickhouse": "clickhouse/clickhouse-server:25.8.28.1",
}


def build_stand_ins(engine: Engine, redis_program: str) -> None:
    """Build every image that the stack would pull. What did not change comes from the engine's cache."""
    if not engine.has_image(DEBIAN):
        _import_debian(engine)
    for name, tag in STAND_INS.items():
        engine.docker("build", "--network", "host", "--tag", tag, _context(name, redis_program))


def _import_debian(engine: Engine) -> None:
    root = CACHE / "debian"
    if not (root / "usr/bin/python3").exists():
        shutil.rmtree(root, ignore_errors=True)
        packages = "--include=python3,python3-venv,ca-certificates"
        done = subprocess.run(
            ["debootstrap", "--variant=minbase", packages, "bookworm", root],
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        require(done.returncode == 0, "Debian's packages", done.stdout[-600:] + done.stderr[-600:])
    # The containers of a build reach the package index as this host does.
    bundle = "etc/ssl/certs/ca-certificates.crt"
    if Path("/", bundle).exists():
        shutil.copy(Path("/", bundle), root / bundle)
    if Path("/etc/pip.conf").exists():
        shutil.copy("/etc/pip.conf", root / "etc" / "pip.conf")
    settings = [
        f"{name}={value}" for name, value in os.environ.items() if name in ("PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT")
    ]
    changes = [part for setting in settings for part in ("--change", f"ENV {setting}")]
    archive = CACHE / "debian.tar"
    subprocess.run(["tar", "--directory", root, "--create", "--file", archive, "."], check=True)
    engine.docker("import", *changes, archive, DEBIAN)
    archive.unlink()


def _context(name: str, redis_program: str) -> Path:
    """Return the directory from which the image is built: its files and what else goes into it."""
    directory = CACHE / "context" / name
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(IMAGES / name, directory)
    if name == "kafka":
        shutil.copytree(LIBS, directory / "libs")
    elif name == "redis":
        shutil.copy(redis_program, directory / "redis-server")
    elif name == "clickhouse":
        (directory / "tests" / "servers").mkdir(parents=True)
        for file in ("__init__.py", "servers/__init__.py", "servers/clickhouse.py", "servers/certificates.py"):
            shutil.copy(ROOT / "tests" / file, directory / "tests" / file)
    return directory


def build_older(engine: Engine, tag: str, commit: str) -> None:
    """Build the image of `commit`. Skip where git does not know it."""
    require(shutil.which("git") is not None, "git", "apt-get install git.")
    archive = CACHE / "older.tar"
    done = subprocess.run(
        ["git", "-C", ROOT, "-c", "tar.umask=0022", "archive", "--output", archive, commit],
        capture_output=True,
        text=True,
        check=False,
    )
    require(done.returncode == 0, f"commit {commit}", done.stderr)
    with archive.open("rb") as file:
        # The label makes it another image even where both commits hold the same files.
        revision = ("--build-arg", f"REVISION={commit}")
        engine.docker("build", "--network", "host", *revision, "--tag", tag, "-", stdin=file.fileno())
    archive.unlink()
