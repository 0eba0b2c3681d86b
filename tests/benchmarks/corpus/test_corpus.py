"""The corpus as it is committed."""

import getpass
import gzip
import json
import re
import socket
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.corpus import capture
from benchmarks.corpus.label import load_rules, rule_of, text_of
from benchmarks.corpus.plan import BLIND, BLIND_LOGS, HERE, LOGS, PROJECT, SPLITS, Framework, load

FOLDERS = sorted(path.parent for logs in (LOGS, BLIND_LOGS) for path in logs.glob("*/*/truth.json"))
NUMBER = re.compile(r"\d+\.?\d*(?:[eE][-+]?\d+)?")


@pytest.fixture(params=sorted({folder.parent for folder in FOLDERS}), ids=lambda framework: framework.name)
def folders(request) -> list[Path]:
    """The logs of a framework."""
    return [folder for folder in FOLDERS if folder.parent == request.param]


@pytest.fixture(scope="module")
def frameworks() -> dict[str, Framework]:
    return load()[1]


@pytest.fixture(scope="module")
def all_rules() -> dict:
    return load_rules()


def truth_of(folder: Path) -> dict:
    return json.loads((folder / "truth.json").read_text())


def test_every_set_up_that_is_planned_has_its_log_and_no_other(frameworks: dict[str, Framework]) -> None:
    planned = {f"{name}/{setup}" for name, each in frameworks.items() for setup in each.setups}
    assert {f"{each.parent.name}/{each.name}" for each in FOLDERS} == planned
    assert {
        f"{path.parent.parent.name}/{path.parent.name}" for each in FOLDERS for path in each.glob("log.txt*")
    } == planned
    assert {each.parent for each in FOLDERS} == {each.logs for each in frameworks.values()}


def test_there_are_enough_frameworks_and_each_has_its_program(frameworks: dict[str, Framework]) -> None:
    assert len(frameworks) >= 25
    assert all(each.program.exists() for each in frameworks.values())


def test_a_framework_is_in_one_split_and_none_is_too_small(frameworks: dict[str, Framework]) -> None:
    counts = Counter(each.split for each in frameworks.values())
    assert set(counts) <= set(SPLITS)
    assert all(count >= 12 for count in counts.values())


def test_the_whole_is_small() -> None:
    assert sum(path.stat().st_size for folder in FOLDERS for path in folder.iterdir()) < 8e6


def test_a_log_is_small_and_complete(folders: list[Path]) -> None:
    for folder in folders:
        captured = capture.read(folder)
        assert sum(len(piece) for piece, _ in captured.pieces) == len(text_of_bytes(folder))
        assert all(path.stat().st_size <= 100_000 for path in folder.iterdir())
        assert captured.pieces[-1][1] < 300
        assert captured.start > 1.7e9


def text_of_bytes(folder: Path) -> bytes:
    path = next(folder.glob("log.txt*"))
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def test_truth_and_versions_stand_beside_a_log(folders: list[Path], frameworks: dict[str, Framework]) -> None:
    for folder in folders:
        truth, framework = truth_of(folder), frameworks[folder.parent.name]
        assert (truth["framework"], truth["setup"]) == (folder.parent.name, folder.name)
        assert truth["step_time_s"] > 0
        assert truth["steps"] == len(truth["step_ms"])
        versions = json.loads((folder / "versions.json").read_text())
        assert set(versions) == {"python", *framework.packages}
        assert all(re.match(r"(Python )?\d+\.\d|20\d{4}$", version) for version in versions.values())


def test_the_log_tells_what_the_truth_says_that_it_tells(folders: list[Path]) -> None:
    for folder in folders:
        truth = truth_of(folder)
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text_of(folder))
        numbers = [*NUMBER.findall(text), *NUMBER.findall(text.replace(",", ""))]
        if truth["tells"]["step"]:
            assert set(map(float, truth["last_step"])) & set(map(float, numbers))
        if truth["tells"]["loss"]:
            assert any(near(number, abs(loss)) for loss in truth["last_loss"] for number in numbers)


def near(number: str, loss: float) -> bool:
    decimals = len(number.partition(".")[2])
    return abs(float(number) - loss) <= max(0.02 * abs(loss), 0.5 * 10**-decimals if 2 <= decimals < 9 else 0)


def test_no_name_of_host_person_or_path_stays(folders: list[Path]) -> None:
    for folder in folders:
        text = text_of(folder)
        names = [socket.gethostname(), str(PROJECT), str(Path.home())]
        if getpass.getuser() not in ("root", "user"):
            names.append(getpass.getuser())
        assert not [name for name in names if len(name) > 3 and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
        assert not re.search(r"/root/|/tmp/(?!run)\w|/home/(?!user\b)\w", text)
        assert not re.search(r"\b(?!user@example\.org)[\w.+-]+@[\w-]+\.(com|org|net|io|edu)\b", text)


def test_labels_name_lines_that_their_rules_cover(folders: list[Path], all_rules: dict) -> None:
    for file in (folder / "labels.tsv" for folder in folders):
        if not file.exists():
            continue  # no line of this log is labelled
        lines = text_of(file.parent).split("\n")
        rules = all_rules.get(file.parent.parent.name, all_rules[""])
        for row in file.read_text().splitlines()[1:]:
            number, label, _ = row.split("\t", 2)
            at = rule_of(lines[int(number) - 1], rules)
            assert at is not None
            assert rules[at][0] == label


def test_there_are_enough_labels() -> None:
    rows = [row for path in LOGS.glob("*/*/labels.tsv") for row in path.read_text().splitlines()[1:]]
    assert len(rows) >= 1500
    assert {row.split("\t")[1] for row in rows} >= {"progress", "warning", "other"}


def test_blind_logs_lie_apart_from_those_that_exemplars_are_made_of(frameworks: dict[str, Framework]) -> None:
    blind = {name for name, each in frameworks.items() if each.split == BLIND}
    assert blind == {path.name for path in BLIND_LOGS.glob("*")}
    assert not blind & {path.name for path in LOGS.iterdir()}
    assert not blind & set(tomllib.loads((HERE / "labels.toml").read_text()))
