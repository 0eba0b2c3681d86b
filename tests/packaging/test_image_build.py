"""The image's steps, carried out in clean root directories: what they build runs as the image would."""

import json
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import schedmate

from .conftest import ROOT
from .image import Stage, build

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root, for mounts of its own"
    ),
]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, dict[str, str]]]:
    directory = tmp_path_factory.mktemp("image")
    yield build(ROOT, directory)
    shutil.rmtree(directory)


def call(image: tuple[Stage, dict[str, str]], *arguments: str, **changes: str) -> tuple[int, str, str]:
    stage, last = image
    done = stage.run(shlex.join([*json.loads(last["ENTRYPOINT"]), *arguments]), changes)
    return done.returncode, done.stdout, done.stderr


def test_it_says_its_version_and_what_it_can_do(image: tuple[Stage, dict[str, str]]) -> None:
    assert call(image, "--version")[:2] == (0, f"schedmate {schedmate.__version__}\n")
    code, shown, _ = call(image, *json.loads(image[1]["CMD"]))
    assert code == 0
    assert "worker" in shown


def test_it_is_not_root_and_owns_its_home(image: tuple[Stage, dict[str, str]]) -> None:
    stage, _ = image
    assert stage.run(
        "id -u; touch /var/lib/schedmate/x && echo written; touch /opt/schedmate/x || echo kept"
    ).stdout.split() == [
        "10001",
        "written",
        "kept",
    ]


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("worker", "kafka.brokers: expected"),
        ("bridge", "kafka.brokers: expected"),
        ("topics check", "kafka.brokers: expected"),
        ("query verdicts", "clickhouse"),
        ("status", "redis"),
    ],
)
def test_each_service_of_the_stack_is_installed(image: tuple[Stage, dict[str, str]], command: str, answer: str) -> None:
    code, _, said = call(
        image, *command.split(), SCHEDMATE_KAFKA__BROKERS="", SCHEDMATE_CLICKHOUSE__URL="http://127.0.0.1:1/db"
    )
    assert code != 0
    assert answer in said.lower()
    assert "pip install" not in said


def test_the_engine_and_the_source_stay_outside(image: tuple[Stage, dict[str, str]]) -> None:
    stage, _ = image
    installed: Path = stage.root / "opt" / "schedmate"
    assert not list(installed.glob("lib/python*/site-packages/chdb"))
    assert not (stage.root / "source").exists()
    assert not (stage.root / "wheel").exists()


def test_the_health_check_runs(image: tuple[Stage, dict[str, str]]) -> None:
    stage, last = image
    command = json.loads(last["HEALTHCHECK"].split(" CMD ")[1].strip())
    done = stage.run(shlex.join(command))
    assert done.returncode == 1
    assert "Connection refused" in done.stderr
