"""A bar shows how far a long reading is, to a person and to nobody else."""

import json
import os
from pathlib import Path

import pytest

from schedmate.analysis.read_log import MANY
from tests.schedmate.cli.on_terminal import on_terminal


@pytest.fixture
def logs(tmp_path: Path) -> list[str]:
    for number in range(MANY):
        (tmp_path / f"{number:02}.log").write_text("".join(f"step {step} loss 2.0 0.5 s/it\n" for step in range(50)))
    return [str(file) for file in sorted(tmp_path.iterdir())]


@pytest.mark.parametrize("command", ["analyze --format json", "classify --json"])
def test_a_bar_over_many_logs_whose_results_go_into_a_file(logs: list[str], tmp_path: Path, command: str) -> None:
    out = os.open(tmp_path / "out.json", os.O_CREAT | os.O_WRONLY)
    seen = on_terminal(*command.split(), *logs, stdout=out)
    os.close(out)
    assert f"({MANY} of {MANY})" in seen
    results = [json.loads(line) for line in (tmp_path / "out.json").read_text().splitlines()]
    assert [each["file"] for each in results] == logs


def test_no_bar_beside_results_on_the_same_terminal(logs: list[str]) -> None:
    seen = on_terminal("analyze", *logs)
    assert f"of {MANY})" not in seen
    assert seen.count("no failure seen") == MANY


def test_a_log_given_twice_is_read_twice(logs: list[str]) -> None:
    assert on_terminal("analyze", logs[0], logs[0]).count("no failure seen") == 2
