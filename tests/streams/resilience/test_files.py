import os
import stat
from pathlib import Path

import pytest

from streams.resilience import replace_file


def test_the_content_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "state"
    replace_file(path, b"one")
    replace_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_permissions_are_as_asked_whatever_the_umask_and_the_old_file(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "state"
    path.write_text("old")
    path.chmod(0o666)
    before = os.umask(0o077)
    try:
        replace_file(path, b"new", mode=mode)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    (tmp_path / "state.new").symlink_to(secret)
    with pytest.raises(OSError, match="symbolic"):
        replace_file(tmp_path / "state", b"new")
    assert secret.read_text() == "mine"


def test_the_old_file_stays_where_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state"
    replace_file(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="space"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
