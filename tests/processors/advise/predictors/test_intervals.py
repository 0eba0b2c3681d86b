import tracemalloc

import numpy as np
import pytest

from processors.advise.predictors import intervals
from processors.advise.predictors.feedback import SLACK, IntervalFeedback
from processors.advise.predictors.intervals import AdaptiveMargins, groups_of
from processors.advise.predictors.job import Completion, Submission
from processors.advise.predictors.serving import hold


def job(number: int, queue: str, gpus: float = 1.0) -> Submission:
    return Submission(job_id=str(number), submitted=float(number), queue=queue, gpus=gpus)


def test_margins_follow_a_drift_in_every_group() -> None:
    """Held-out jobs were exact; then one queue's become ten times longer and another's scatter."""
    lot, margins = np.random.default_rng(1), AdaptiveMargins()
    zeros = np.zeros(300)
    margins.calibrate((job(number, "a") for number in range(300)), zeros, zeros)
    inside: dict[str, list[bool]] = {"a": [], "b": []}
    for number in range(12_000):
        queue = "ab"[number % 2]
        one = job(number, queue, gpus=float(number % 3))
        y = lot.normal(2.3, 0.2) if queue == "a" else lot.normal(0, 2.0)
        below, above = margins.margins(one)
        low, high = sorted((-below, above))
        inside[queue].append(low <= y <= high)
        margins.update(one, short=y < low, long=y > high)
    for queue, held in inside.items():
        assert 0.87 < np.mean(held[2000:]) < 0.93, queue


def test_held_out_jobs_give_split_conformal_margins() -> None:
    margins, lot = AdaptiveMargins(), np.random.default_rng(2)
    y = lot.normal(0, 1, 4000)
    margins.calibrate((job(number, "a") for number in range(4000)), -y, y)
    below, above = margins.margins(job(0, "a"))
    fresh = lot.normal(0, 1, 4000)
    assert 0.88 < np.mean((fresh >= -below) & (fresh <= above)) < 0.92


def test_few_jobs_give_a_group_no_margin_of_its_own() -> None:
    margins = AdaptiveMargins()
    margins.calibrate([job(number, "a") for number in range(50)], np.ones(50), np.ones(50))
    assert margins.margins(job(0, "a")) == (0, 0)


def test_margins_and_groups_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "GROUPS_KEPT", 20)
    margins = AdaptiveMargins()
    for number in range(4000):
        margins.update(job(number, str(number % 500)), short=True, long=True)
    assert len(margins.parts) == 20
    assert margins.parts[("all",)][0] == intervals.WIDEST


def test_a_burst_of_one_queue_sets_no_margin_of_its_own() -> None:
    """Fewer than a thousand held-out jobs of a queue move the common margin alone."""
    margins = AdaptiveMargins()
    queues = ["a"] * 900 + ["b"] * 300
    margins.calibrate([job(number, queue) for number, queue in enumerate(queues)], np.ones(1200), np.ones(1200))
    assert set(margins.parts) == {("all",), ("gpus", 1.0)}


def test_margins_keep_the_share_below_that_was_asked_for() -> None:
    lot, margins = np.random.default_rng(3), AdaptiveMargins()
    short, long = [], []
    for number in range(8000):
        y = lot.normal(0, 1)
        below, above = margins.margins(job(number, "a"))
        short.append(y < -below)
        long.append(y > above)
        margins.update(job(number, "a"), short=y < -below, long=y > above, low_share=0.02)
    assert np.mean(short[3000:]) == pytest.approx(0.02, abs=0.01)
    assert np.mean(long[3000:]) == pytest.approx(0.08, abs=0.015)


class _Recorded(AdaptiveMargins):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, bool, bool]] = []

    def update(self, job: Submission, *, short: bool, long: bool, low_share: float = 0.05) -> None:
        self.seen.append((job.job_id, short, long))


def test_a_job_past_its_bound_counts_at_once_and_once() -> None:
    margins = _Recorded()
    feedback = IntervalFeedback(margins)
    for number in range(3):
        feedback.issue(job(number, "a"), 10.0, 100.0)
        feedback.start(str(number), 1000.0)
    feedback.complete(Completion(job=job(0, "a"), ended=1005.0, duration_s=5.0))
    feedback.advance(1100.0)
    assert margins.seen == [("0", True, False)]
    feedback.advance(1100.5)
    feedback.complete(Completion(job=job(1, "a"), ended=2000.0, duration_s=1000.0))
    feedback.complete(Completion(job=job(9, "a"), ended=2000.0, duration_s=1000.0))
    assert sorted(margins.seen) == [("0", True, False), ("1", False, True), ("2", False, True)]


def test_bounds_of_jobs_that_ended_are_let_go() -> None:
    feedback, held = IntervalFeedback(AdaptiveMargins()), []
    tracemalloc.start()
    for number in range(4 * SLACK):
        one = job(number, "a")
        feedback.issue(one, 1.0, 1e9)
        feedback.start(one.job_id, float(number))
        feedback.complete(Completion(job=one, ended=5.0, duration_s=5.0))
        if number % SLACK == SLACK - 1:
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert held[-1] < 1.2 * held[0]


def test_bounds_hold_the_median() -> None:
    assert hold(5.0, 6.0, 7.0) == (5.0, 7.0)
    assert hold(5.0, 7.0, 3.0) == (3.0, 7.0)


def test_a_job_has_four_groups() -> None:
    assert len(set(groups_of(job(1, "a")))) == 4
