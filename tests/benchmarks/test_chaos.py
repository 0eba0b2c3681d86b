"""Chaos in short: a fixed seed, some faults, some hostile jobs, and nothing lost, doubled or different."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.chaos import faults, lateness
from benchmarks.chaos.faults import Window
from benchmarks.chaos.report import save
from benchmarks.chaos.run import Options, run


@pytest.mark.kafka
@pytest.mark.clickhouse
@pytest.mark.redis
@pytest.mark.slurm
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_tables_are_exact_after_faults_among_hostile_jobs(tmp_path: Path) -> None:
    outcome = run(
        Options(minutes=40 / 60, seed=3, faults_per_minute=15, jobs=3, longest_s=6.0, quiet_s=480.0, within_s=60.0),
        tmp_path,
        lambda _: None,
    )
    assert sum(outcome.faults.values()) >= 5
    assert outcome.hostile >= 4
    assert outcome.verdict.figures["lines printed"] > 100
    save(outcome, tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["faults"] == outcome.faults
    assert not outcome.problems, "\n".join([*outcome.problems[:30], *last_words(tmp_path)])


def last_words(scratch: Path, lines: int = 12) -> Iterator[str]:
    """Yield how the log of each command and server ends: what a failure leaves is gone soon."""
    for log in sorted(scratch.glob("*.log")):
        yield f"== {log.name}"
        yield from (line[:400] for line in log.read_text(errors="replace").splitlines()[-lines:])


def test_a_plan_follows_from_its_seed_and_leaves_no_fault_out() -> None:
    planned = faults.plan(seed=5, seconds=120, per_minute=15, kinds=20, longest_s=10)
    assert planned == faults.plan(seed=5, seconds=120, per_minute=15, kinds=20, longest_s=10)
    assert planned != faults.plan(seed=6, seconds=120, per_minute=15, kinds=20, longest_s=10)
    assert {each.fault for each in planned[:20]} == set(range(20))
    assert sorted(planned, key=lambda each: each.at) == planned


def test_time_under_faults_is_counted_once() -> None:
    after = lateness.AFTERMATH_S
    windows = [
        Window("kill", "worker-1", 0, 10),
        Window("stop", "pipe", 5, 20),
        Window("cut", "broker-1", 500, 510),
        Window("kill", "redis", 600, 610),
        Window("ahead", "clock of worker-1", 600, 610),
    ]
    assert lateness.covered(0, 1000, windows) == 20 + after + 10 + after
    assert lateness.covered(8, 12, windows) == 4
    assert lateness.covered(600, 700, windows) == 0
