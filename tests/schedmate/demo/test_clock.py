"""The jobs' own clocks."""

from pathlib import Path

import pytest

from schedmate.demo.jobs.clock import VARIABLE, Clocked, Step, StepClock, read


def test_a_clock_writes_what_read_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {VARIABLE: str(tmp_path / "job"), "LOCAL_RESTART_COUNT": "1", "RANK": "2"}.items():
        monkeypatch.setenv(name, value)
    clock = StepClock()
    ticks = [clock.tick(step) for step in (1, 2, 3)]
    clocked = read(tmp_path / "job", 1, 2)
    assert [step.number for step in clocked.steps] == [2, 3]
    assert [step.seconds for step in clocked.steps] == pytest.approx(ticks[1:], abs=1e-6)
    assert read(tmp_path / "job", 0, 2) == Clocked()


def test_half_a_line_of_a_killed_job_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "job.0.0").write_text("1 1.0 0.5\n2 2.0 0.1\n3 3.0 0.2\n4 4.0")
    assert read(tmp_path / "job", 0, 0).steps == ((2, 2.0, 0.1), (3, 3.0, 0.2))


def test_a_typical_step_is_the_median_of_the_means_of_equal_parts() -> None:
    taken = [9, 1, 3, 2, 2, 1, 30, 9]
    clocked = Clocked(tuple(Step(100 + at, float(at), seconds) for at, seconds in enumerate(taken, start=1)))
    for of in (clocked.between(1.0, 7.0, parts=3), clocked.numbered(102, 107, parts=3)):
        assert of == (2.0, 0.0)  # of (1+3)/2, (2+2)/2, (1+30)/2
    assert clocked.numbered(102, 107, parts=99) == (2.0, pytest.approx(1.4826))  # each step by itself
    assert clocked.between(50.0, 60.0, parts=3) is None
