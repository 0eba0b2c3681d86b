"""`schedmate advise --metadata`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = """
import torch
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
for epoch in range(12):
    model(epoch).backward()
    optimizer.step()
"""


def _advise(*words: str, asked: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "schedmate", "advise", *words], input=asked, capture_output=True, text=True, check=False
    )


def test_answers_a_question_on_standard_input(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    asked = {
        "tree": str(tmp_path),
        "directory": str(tmp_path),
        "command": "python a.py",
        "launch": {"ngpu": 4, "nnodes": 2},
    }
    answer = json.loads(_advise("--metadata", "--json", asked=json.dumps(asked)).stdout)
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
