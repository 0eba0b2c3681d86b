"""The scorer on tiny cases, and the cutting of a log into chunks of other sizes."""

import random

import pytest

from benchmarks.corpus.failures import score as scoring
from benchmarks.corpus.failures.score import Score, recut, score
from processors.job import JobProcessor
from streams.producers.stored import read_chunks

FAILED = {
    "error_type": "infrastructure",
    "faulty_component": "storage",
    "acceptable_lines": [4, 6],
    "restartable": False,
}
HEALTHY = {"error_type": "none", "acceptable_lines": None, "restartable": None}


def _verdict(line=5, kind="infrastructure", component="storage", restartable=False):
    return {
        "root_line": line,
        "error_type": kind,
        "faulty_component": component,
        "restartable": restartable,
        "signature": None,
        "source": "signature",
        "message": "No space left on device",
    }


def test_a_right_verdict_counts_everywhere():
    one = Score()
    one.add(FAILED, _verdict(), "a")
    assert (one.located, one.typed, one.said_right, one.said, one.component, one.restart_right) == (1,) * 6
    assert one.wrong == []


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (_verdict(line=3), "line 3, not in [4, 6]"),
        (_verdict(kind="user_script"), "type user_script, not infrastructure"),
        (_verdict(component="gpu"), "component gpu, not storage"),
        (_verdict(restartable=True), "restartable True, not False"),
        (None, "type none, not infrastructure"),
    ],
)
def test_each_fault_is_named(said, fault):
    one = Score()
    one.add(FAILED, said, "a")
    assert fault in one.wrong[0]


def test_an_alarm_on_a_healthy_run_is_false_and_costs_precision():
    one = Score()
    one.add(HEALTHY, None, "a")
    assert (one.healthy, one.alarms, one.said) == (1, 0, 0)
    one.add(HEALTHY, _verdict(), "b")
    assert (one.healthy, one.alarms, one.said) == (2, 1, 1)


def test_an_accepted_other_type_counts_as_right_and_costs_no_precision():
    one = Score()
    one.add(FAILED | {"error_type": "user_script", "acceptable_error_types": ["infrastructure"]}, _verdict(), "a")
    assert (one.typed, one.said, one.infrastructure) == (1, 0, 0)


LOG = (
    "step 1/9 | loss 0.5 | 3.1 ms/step\nbar 1\rbar 2\rbar 3\n" * 30
    + "Traceback (most recent call last):\nKeyError: 'width'\n"
)


def _label(kind, **more):
    return {
        "file": f"{kind}.log",
        "family": "tiny",
        "kind": kind,
        "style": "plain",
        "splice": 0,
        "alt_ranges": [],
    } | more


def test_short_and_long_logs_are_scored_as_files_and_as_streams(tmp_path, monkeypatch):
    (tmp_path / "tiny").mkdir()
    for name, text in (("fails", LOG), ("ends", LOG[: LOG.index("Trace")]), ("empty", "")):
        (tmp_path / "tiny" / f"{name}.log").write_bytes(text.encode())
    monkeypatch.setattr(scoring, "LOGS", tmp_path)
    wanted = [
        _label(
            "fails", error_type="user_script", faulty_component="none", acceptable_lines=[61, 62], restartable=False
        ),
        _label("ends", **HEALTHY),
        _label("empty", **HEALTHY),
    ]
    for form in ("short", "long"):
        result = score(wanted, form, JobProcessor(), random.Random(1))
        assert (result.failures, result.healthy) == (1, 2)
        assert result.wrong == []
        assert result.located == result.typed == result.restart_right == 1
        assert result.unlike == result.alarms == 0


def test_recutting_keeps_every_piece_and_its_line(tmp_path):
    file = tmp_path / "a.log"
    file.write_bytes((LOG + "x" * 100_000 + "\nlast\n").encode())
    whole, parts = list(read_chunks(file)), list(recut(read_chunks(file), random.Random(3)))
    assert len(parts) > len(whole)
    assert [line for chunk in parts for line in chunk.lines] == [line for chunk in whole for line in chunk.lines]
    text = file.read_bytes().decode().split("\n")
    for chunk in parts:
        assert chunk.lines[0].rstrip("\r") in text[chunk.first_line - 1]
