"""The jobs' own clocks."""

from pathlib import Path

import pytest

from schedmate.demo.jobs.clock import VARIABLE, Clocked, StepClock, read


def test_a_clock_writes_what_read_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {VARIABLE: str(tmp_path / "job"), "LOCAL_RESTART_COUNT": "1", "RANK": "2"}.items():
        monkeypatch.setenv(name, value)
    clock = StepClock()
    ticks = [clock.tick() for _ in range(3)]
    clocked = read(tmp_path / "job", 1, 2)
    assert [seconds for _, seconds in clocked.steps] == pytest.approx(ticks[1:], abs=1e-6)
    assert read(tmp_path / "job", 0, 2) == Clocked()


def test_half_a_line_of_a_killed_job_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "job.0.0").write_text("1.0 0.5\n2.0 0.1\n3.0 0.2\n4.0")
    assert read(tmp_path / "job", 0, 0).steps == ((2.0, 0.1), (3.0, 0.2))


def test_a_typical_step_is_the_median_of_the_means_of_equal_parts() -> None:
    clocked = Clocked(tuple((float(at), seconds) for at, seconds in enumerate([9, 1, 3, 2, 2, 1, 30, 9], start=1)))
    assert clocked.between(1.0, 7.0, parts=3) == 2.0  # (1+3)/2, (2+2)/2, (1+30)/2
    assert clocked.between(1.0, 7.0, parts=99) == 2.0  # each step by itself
    assert clocked.between(50.0, 60.0, parts=3) is None
