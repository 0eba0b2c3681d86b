"""The Dockerfile, as far as it can be checked without an engine."""

import json
import os
import re
import subprocess
import sys

import pytest

from schedmate.services.telemetry import Telemetry

from .conftest import ROOMS, ROOT


@pytest.fixture(scope="module")
def instructions() -> list[str]:
    """The instructions of the Dockerfile, continued lines joined, comments gone."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def arguments(instructions: list[str], name: str) -> list[str]:
    return [line.split(maxsplit=1)[1] for line in instructions if line.split()[0] == name]


def test_every_stage_stands_on_one_pinned_image(instructions: list[str]) -> None:
    stages = arguments(instructions, "FROM")
    assert len(stages) == 3
    assert all(stage.startswith("python:${PYTHON}") for stage in stages)
    [pinned] = [each for each in arguments(instructions, "ARG") if each.startswith("PYTHON=")]
    assert re.fullmatch(r"PYTHON=3\.\d+\.\d+-slim-\w+", pinned)


def test_what_runs_is_not_root(instructions: list[str]) -> None:
    last = max(number for number, line in enumerate(instructions) if line.startswith("FROM"))
    [user] = arguments(instructions[last:], "USER")
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)


def test_all_rooms_and_nothing_else_go_in(instructions: list[str]) -> None:
    [*sources] = [each.split() for each in arguments(instructions, "COPY") if not each.startswith("--from")]
    copied = {name for *names, _ in sources for name in names}
    assert copied == {*ROOMS} | {"pyproject.toml", "README.md", "LICENSE"}
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert let_in == copied


def test_the_image_says_what_it_is(instructions: list[str]) -> None:
    [labels] = arguments(instructions, "LABEL")
    for name in ("title", "description", "licenses", "version", "revision"):
        assert f"org.opencontainers.image.{name}=" in labels


@pytest.mark.parametrize(("problems", "healthy"), [([], True), (["the broker does not answer"], False)])
def test_the_health_check_asks_the_command(instructions: list[str], problems: list[str], healthy: bool) -> None:
    [check] = arguments(instructions, "HEALTHCHECK")
    [_, *options] = json.loads(check.split(" CMD ")[1])
    telemetry = Telemetry(lambda: problems)
    port = telemetry.serve("127.0.0.1", 0)
    try:
        asked = subprocess.run(
            [sys.executable, *options],
            env={**os.environ, "SCHEDMATE_SERVICE__PORT": str(port)},
            capture_output=True,
            check=False,
            timeout=30,
        )
    finally:
        telemetry.close()
    assert (asked.returncode == 0) is healthy, asked.stderr.decode()


def test_the_health_check_fails_where_nothing_answers(instructions: list[str]) -> None:
    [check] = arguments(instructions, "HEALTHCHECK")
    [_, *options] = json.loads(check.split(" CMD ")[1])
    environment = {**os.environ, "SCHEDMATE_SERVICE__PORT": "1"}
    asked = subprocess.run([sys.executable, *options], env=environment, capture_output=True, check=False, timeout=30)
    assert asked.returncode != 0
