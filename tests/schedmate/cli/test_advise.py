"""`schedmate advise --metadata`."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.schedmate.forked import run_forked

SOURCE = """
import torch
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
for epoch in range(12):
    model(epoch).backward()
    optimizer.step()
"""


def _advise(*words: str, asked: str = "") -> subprocess.CompletedProcess[str]:
    return _schedmate("advise", *words, asked=asked)


def _schedmate(*words: str, asked: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    done = run_forked(*words, text=asked.encode(), env=os.environ | environment)
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_answers_a_question_on_standard_input(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    asked = {
        "tree": str(tmp_path),
        "directory": str(tmp_path),
        "command": "python a.py",
        "launch": {"ngpu": 4, "nnodes": 2},
    }
    answer = json.loads(_advise("--metadata", asked=json.dumps(asked)).stdout)
    assert (answer["iters"], answer["iter_type"], answer["lr"], answer["gpus"]) == (12, "epoch", 0.5, 8)
    assert answer["dataset_train"] is None


def test_a_command_after_the_options(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    shown = _advise("--metadata", "--tree", str(tmp_path), "--", "python", "a.py").stdout.splitlines()
    assert "iters          12" in shown
    assert "dataset_train  unknown" in shown


@pytest.mark.parametrize(
    ("words", "asked", "expected"),
    [
        (("--tree", "."), "", "--metadata"),
        (("--metadata",), "no json", "expected {"),
        (("--metadata",), '{"tree": "/", "command"', "expected {"),
        (("--metadata",), '{"tree": "/does/not/exist", "command": "x"}', "expected the directory"),
    ],
)
def test_errors_say_what_was_expected(words: tuple[str, ...], asked: str, expected: str) -> None:
    result = _advise(*words, asked=asked)
    assert result.returncode == 2
    assert expected in result.stderr
    assert "Traceback" not in result.stderr


def test_from_accounting_to_an_estimate_of_a_directory_of_ones_own(tmp_path: Path) -> None:
    history = {"SCHEDMATE_ADVISOR__HISTORY": str(tmp_path / "history.db"), "SCHEDMATE_ADVISOR__MODELS": str(tmp_path)}
    (tmp_path / "train.sh").write_text("python a.py\n")
    asked = ("advise", "--tree", str(tmp_path), "--", "train.sh", "--epochs", "20")
    nothing = _schedmate(*asked, **history)
    assert (nothing.returncode, nothing.stderr) == (0, "")
    assert nothing.stdout.startswith("unknown: no past job is in")
    jobs = tmp_path / "jobs.txt"
    jobs.write_text(
        "JobID|State|Start|End|WorkDir|SubmitLine\n"
        f"11|COMPLETED|2026-11-01T10:00:00|2026-11-01T11:00:00|{tmp_path}|sbatch --gres=gpu:8 train.sh --epochs 10\n"
    )
    assert _schedmate("import", "sacct", str(jobs), **history).returncode == 0
    told = _schedmate(*asked, **history).stdout.splitlines()
    assert told[0].startswith("duration")
    assert "2 h" in told[0]
    assert told[1].split() == ["rests", "on", "resubmission:", "11"]


@pytest.mark.parametrize(
    ("command", "absent"),
    [
        (["train.sh", "--epochs", "3"], ""),
        (["python", "a.py", "other.py"], ""),
        (["bash", "-c", "cd x; python b.py"], ""),
        (["python", "$HOME/b.py", "--code=c.py"], ""),
        (["nofile.sh"], "nofile.sh"),
        (["nofile"], "nofile"),
        (["anywhere_else", "a.py"], ""),
        (["env", "python", "b.py", "a.py"], "b.py"),
        (["/no/such/place/train.sh"], "/no/such/place/train.sh"),
    ],
)
@pytest.mark.parametrize("metadata", [(), ("--metadata",)])
def test_a_script_that_is_not_there_is_named(
    tmp_path: Path, metadata: tuple[str, ...], command: list[str], absent: str
) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    (tmp_path / "train.sh").write_text("python a.py\n")
    history = {"SCHEDMATE_ADVISOR__HISTORY": str(tmp_path / "history.db"), "SCHEDMATE_ADVISOR__MODELS": str(tmp_path)}
    told = _schedmate("advise", *metadata, "--tree", str(tmp_path), "--", *command, **history)
    assert told.returncode == 0
    expected = (
        f"schedmate: no script or command {absent} in {tmp_path}: the answer rests on the words of the command alone"
    )
    assert told.stderr.startswith(expected) if absent else told.stderr == ""
