"""Comparisons that go on where they were interrupted."""

from functools import partial
from pathlib import Path

import msgspec

from benchmarks.simulate.cases import Kept, measure


class Case(msgspec.Struct, frozen=True):
    name: str
    seed: int


class Result(msgspec.Struct, frozen=True):
    value: float


def work(log: Path, case: Case) -> Result:
    with log.open("a") as stream:
        stream.write(case.name)
    return Result(case.seed / 2)


CASES = [Case("a", 1), Case("b", 2), Case("c", 3)]


def test_what_is_known_is_not_measured_again(tmp_path: Path) -> None:
    file, log = tmp_path / "kept" / "cases.jsonl", tmp_path / "log"
    reported: list[int] = []
    first = measure(
        Kept(file, Case, Result), CASES[:2], partial(work, log), 1, lambda found: reported.append(len(found))
    )
    assert first == {CASES[0]: Result(0.5), CASES[1]: Result(1.0)}
    assert reported == [1, 2, 2]
    second = measure(Kept(file, Case, Result), CASES, partial(work, log), 1, lambda _: None)
    assert list(second.items()) == [*first.items(), (CASES[2], Result(1.5))]
    assert log.read_text() == "abc"
    assert not Kept(file, Case, Result, fresh=True).found
    assert not file.exists()


def test_a_torn_line_is_dropped_and_written_over(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    Kept(file, Case, Result).add(CASES[0], Result(0.5))
    with file.open("ab") as stream:
        stream.write(b'[{"name":"b","se')
    kept = Kept(file, Case, Result)
    assert list(kept.found) == [CASES[0]]
    kept.add(CASES[1], Result(1.0))
    assert list(Kept(file, Case, Result).found) == CASES[:2]
