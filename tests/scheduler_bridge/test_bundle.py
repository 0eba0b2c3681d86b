"""What is kept of a node before it is drained."""

import stat
from pathlib import Path

import pytest

from schedmate_records import Action, Decision, decode
from scheduler_bridge import bundle
from scheduler_bridge.bundle import MAX_FILE, Bundles

from .findings import NOW


def drain(number: int = 0) -> Decision:
    return Decision(
        id=f"drain/{number}",
        action=Action.DRAIN,
        node="n1",
        time=NOW + number,
        expires=NOW + 900,
        policy="p",
        reason="r",
        signature="k:1",
    )


def test_a_bundle_holds_all_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    kept = Bundles(tmp_path / "bundles", lambda _: {"job-7/../rank 0.log": "a line\n"}).keep(
        drain(), {"scheduler.txt": "State=IDLE", "check.txt": "passed"}
    )
    assert kept
    assert {file.name: file.read_text() for file in kept.iterdir() if file.name != "decision.json"} == {
        "scheduler.txt": "State=IDLE",
        "check.txt": "passed",
        "job-7_.._rank_0.log": "a line\n",
    }
    assert decode(Decision, (kept / "decision.json").read_bytes()).signature == ""
    assert {stat.S_IMODE(file.stat().st_mode) for file in kept.iterdir()} == {0o600}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700


def test_its_files_and_their_number_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "MAX_BUNDLES", 3)
    bundles = Bundles(tmp_path, lambda _: {f"{number}.log": "x" for number in range(1000)})
    for number in range(5):
        kept = bundles.keep(drain(number), {"scheduler.txt": "y" * (MAX_FILE + 1)})
    assert kept
    assert len(list(kept.iterdir())) == bundle.MAX_FILES
    assert (kept / "scheduler.txt").stat().st_size == MAX_FILE
    assert len(list(tmp_path.iterdir())) == 3
    assert kept in tmp_path.iterdir()


def test_a_directory_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert Bundles(tmp_path / "file").keep(drain(), {}) is None
