"""The branch of a directory."""

import os
from pathlib import Path

import pytest

from scheduler_bridge.sources.branch import branch_of


def working_tree(root: Path, head: str = "ref: refs/heads/ada/faster\n") -> Path:
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text(head)
    return root


def test_the_branch_is_that_of_the_tree_around(tmp_path: Path) -> None:
    below = working_tree(tmp_path) / "experiments" / "vit"
    below.mkdir(parents=True)
    assert branch_of(tmp_path) == branch_of(below) == "ada/faster"


@pytest.mark.parametrize(
    "head", ["0f1e2d3c4b5a69788796a5b4c3d2e1f001122334\n", "", "ref: refs/heads/a\nref: refs/heads/b\n"]
)
def test_what_is_no_branch_is_unknown(tmp_path: Path, head: str) -> None:
    assert branch_of(working_tree(tmp_path, head)) == ""


def test_no_tree_a_link_and_a_pipe_are_unknown(tmp_path: Path) -> None:
    assert branch_of(Path("relative")) == ""
    secret = tmp_path / "secret"
    secret.write_text("ref: refs/heads/secret\n")
    for name in ("linked", "piped"):
        (tmp_path / name / ".git").mkdir(parents=True)
    (tmp_path / "linked" / ".git" / "HEAD").symlink_to(secret)
    os.mkfifo(tmp_path / "piped" / ".git" / "HEAD")
    assert branch_of(tmp_path / "linked") == branch_of(tmp_path / "piped") == ""
