"""Files outside of a tree, links and secrets are not opened."""

from pathlib import Path, PurePosixPath

import pytest

from processors.advise.source_tree import ROOT
from scheduler_bridge.sources import tree as module
from scheduler_bridge.sources.tree import DirectoryTree, is_secret


def test_reads_a_file_and_refuses_what_is_outside(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.py").write_text("x = 1")
    (tmp_path / "out.py").write_text("secret = 1")
    tree = DirectoryTree(tmp_path / "in")
    assert tree.read("a.py") == "x = 1"
    assert tree.relative("../out.py") is None
    assert tree.relative("/etc/passwd") is None
    assert tree.read("../out.py") is None
    assert tree.relative(f"{ROOT}/a.py") == "a.py"
    assert tree.relative(f"{ROOT}/../out.py") is None


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out.py").write_text("secret = 1")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.py").write_text("secret = 2")
    (tmp_path / "in" / "a.py").symlink_to(tmp_path / "out.py")
    (tmp_path / "in" / "lib").symlink_to(tmp_path / "outside")
    tree = DirectoryTree(tmp_path / "in")
    assert tree.read("a.py") is None
    assert tree.read("lib/b.py") is None


def test_a_link_above_the_tree_is_another_name_of_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.py").write_text("x = 1")
    (tmp_path / "home").symlink_to(tmp_path / "in")
    tree = DirectoryTree(tmp_path / "home")
    assert tree.relative(str(tmp_path / "home" / "a.py")) == tree.relative(str(tmp_path / "in" / "a.py")) == "a.py"
    assert tree.relative(str(tmp_path / "home" / ".." / "x.py")) is None


@pytest.mark.parametrize(
    "name", [".env", ".env.local", "server.pem", "id_rsa", ".git/config", "conf/secrets.yaml", ".aws/credentials"]
)
def test_secrets_are_not_opened(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("token: 1")
    assert is_secret(PurePosixPath(name))
    assert DirectoryTree(tmp_path).read(name) is None


def test_large_and_binary_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "large.py").write_text("#" * (module.LONGEST_FILE + 1))
    (tmp_path / "binary.py").write_bytes(b"x = 1\0")
    tree = DirectoryTree(tmp_path)
    assert tree.read("large.py") is None
    assert tree.read("binary.py") is None


def test_the_bytes_of_a_job_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    (tmp_path / "a.py").write_text("12345678")
    (tmp_path / "b.py").write_text("12345678")
    tree = DirectoryTree(tmp_path)
    assert tree.read("a.py") is not None
    assert tree.read("b.py") is None


def test_a_file_is_no_tree(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(NotADirectoryError, match="expected the directory"):
        DirectoryTree(tmp_path / "a")
