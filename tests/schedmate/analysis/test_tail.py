"""A log read from its end gives what it gives read whole."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processors.job import JobProcessor
from schedmate.analysis.analysis import analyze
from schedmate.analysis.tail import find_tail
from streams.producers.stored import read_chunks

PROCESSOR = JobProcessor()
BLOCK = 4 << 10

BUG = ["Traceback (most recent call last):", '  File "/home/u/train.py", line 40, in <module>', "KeyError: 'labels'"]
NOISE = [
    "WARNING retrying after Connection reset by peer",
    "saved checkpoint to /ckpt/7",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus.",
    "ERROR something is off",
    "Traceback (most recent call last):",
    "ValueError: bad batch",
    "evaluating:  40%|####      | 4/10 [00:01<00:02,  2.5it/s]\r",
    "1 2.5 0.7",
    "epoch,step,loss",
    "all is well",
    "",
]


def report(step: int) -> str:
    return f"step {step} | loss {2.0 / (step + 1):.4f} | 12.5 it/s | 0.080 s/step"


def both(path: Path, lines: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    path.write_text("".join(line if line.endswith("\r") else line + "\n" for line in lines))
    whole = analyze(path, read_chunks(path), PROCESSOR).contract()
    tail = find_tail(path, PROCESSOR, long=0, block=BLOCK)
    found = analyze(path, (), PROCESSOR, tail).contract() if tail else None
    return whole, found


def same(whole: dict[str, Any], found: dict[str, Any]) -> None:
    for name in ("lines", "progress", "failure"):
        assert found[name] == whole[name]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 1000), st.sampled_from(NOISE) | st.just("BUG")), max_size=12),
    st.lists(st.sampled_from([*NOISE, "BUG"]), max_size=6),
)
def test_the_end_says_what_the_whole_says(tmp_path: Path, inside: list[tuple[int, str]], after: list[str]) -> None:
    lines = [report(step) for step in range(1000)]
    for place, text in sorted(inside, reverse=True):
        lines[place:place] = BUG if text == "BUG" else [text]
    for text in after:
        lines += BUG if text == "BUG" else [text]
    whole, found = both(tmp_path / "job.log", lines)
    if found is not None:
        same(whole, found)


def test_few_chunks_of_a_long_log_are_read(tmp_path: Path) -> None:
    whole, found = both(tmp_path / "job.log", [*(report(step) for step in range(20_000)), *BUG])
    assert found is not None
    same(whole, found)
    assert found["failure"]["root_line"] == 20_003
    assert (found["located_by"], found["linear"]) == ("end", False)
    assert found["chunks_read"] < 100 < whole["chunks_read"]
    assert (whole["located_by"], whole["linear"]) == ("whole", True)


@pytest.mark.parametrize(
    "lines",
    [
        ["saved checkpoint to /ckpt/7"] * 2000,  # no progress that would show that the job went on
        [line for step in range(1000) for line in (report(step), "ERROR something is off")],  # never quiet
        [*(report(step) for step in range(1000)), "step 1000 | loss nan"],  # since when, the end does not say
        ["epoch,step,loss", *(f"1,{step},0.{step}" for step in range(2000))],  # the header stands at the start
        [report(0), *(f"step {step} | 12.5 it/s | 0.080 s/step" for step in range(1, 1000))],  # the loss stands there
    ],
)
def test_where_the_end_does_not_decide_the_whole_is_read(tmp_path: Path, lines: list[str]) -> None:
    _, found = both(tmp_path / "job.log", lines)
    assert found is None


def test_short_compressed_and_absent_logs_are_left_alone(tmp_path: Path) -> None:
    packed = tmp_path / "job.log.gz"
    packed.write_bytes(b"\x1f\x8b" + b"x" * 100_000)
    assert find_tail(packed, PROCESSOR, long=0, block=BLOCK) is None
    packed.write_text("\n".join(report(step) for step in range(1000)))
    assert find_tail(packed, PROCESSOR) is None
    assert find_tail(tmp_path / "absent", PROCESSOR, long=0) is None
    assert find_tail(Path("-"), PROCESSOR, long=0) is None
