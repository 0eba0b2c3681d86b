"""What waiting jobs are told, held against what came: small cases worked out by hand."""

import pytest

from benchmarks.simulate.starts.__main__ import start_forecasts
from benchmarks.simulate.starts.knowledge import SHOWS_PROGRESS, advised, knowledge, limits_alone
from benchmarks.simulate.starts.looks import Case, Look, one_limit, replayed, twice_the_duration
from benchmarks.simulate.starts.scores import COLUMNS, StartForecast, rows
from schedmate.advisor.starts import Expected
from schedmate.simulate.cluster import NodeSpec
from schedmate.simulate.job import Job
from scheduler_bridge.schedulers import JobView, Queue, RunningJob, SchedulerJobState

HOUR, DAY = 3600.0, 86_400.0


def job(name: str, at: float, seconds: float, gpus: float = 8, pods: int = 1) -> Job:
    return Job(job_id=name, submit_s=at, duration_s=seconds, gpus=gpus, pods=pods)


JOBS = [job("a", 0, 1000), job("b", 10, 500), job("c", 100, 100, gpus=2)]


def case(jobs: list[Job], nodes: int = 1) -> Case:
    return Case("twice", twice_the_duration(jobs), [NodeSpec()] * nodes)


def test_limits_are_those_of_the_rule_and_bear_the_longest_job() -> None:
    assert [each.estimate_s for each in one_limit([job("a", 0, 90_000), job("b", 0, 5)])] == [2 * DAY, 2 * DAY]
    assert [each.estimate_s for each in twice_the_duration([job("a", 0, 1800), job("b", 0, 1801)])] == [HOUR, 2 * HOUR]


def test_a_look_shows_who_waits_and_who_holds_what() -> None:
    looks, started = replayed(case(JOBS), every_s=700)
    assert started == {"a": 0, "b": 1000, "c": 1500}
    (first, second) = looks
    assert (first.now, second.now) == (700, 1400)
    assert [(each.view.job, each.since, each.need.gpus) for each in first.queue.waiting] == [
        ("b", 10, 8),
        ("c", 100, 2),
    ]
    (running,) = first.queue.running
    assert (running.view.job, running.view.limit_s, running.since, running.gpus) == ("a", HOUR, 0, 8)
    assert first.left_s == {"a": 300}
    assert [each.view.job for each in second.queue.waiting] == ["c"]


def test_a_gang_holds_its_share_of_each_node() -> None:
    looks, _ = replayed(case([job("gang", 0, 1000, gpus=8, pods=2), job("w", 50, 10), job("x", 60, 10)], 2), every_s=50)
    (running,) = looks[0].queue.running
    assert {node: len(share.gpus) for node, share in running.held.items()} == {"n0": 8, "n1": 8}


def test_limits_alone_are_what_a_scheduler_expects_by_itself() -> None:
    made = [each for each in start_forecasts({}, case(JOBS), every_s=700, futures=20) if each.known == "limits alone"]
    assert [(each.job, each.waited) for each in made] == [("b", 300), ("c", 800), ("c", 100)]
    # At 700 s, `a` has 2900 s left by its limit, and `c` goes behind `b`, whose limit is an hour, too; at 1400 s `b` has 3200 s left.
    assert [each.expected for each in made] == pytest.approx([2900, 6500, 3200], rel=1e-3)


def test_what_the_advisor_said_narrows_the_range() -> None:
    exact = {
        name: (seconds, seconds * 0.99, seconds * 1.01) for name, seconds in (("a", 1000.0), ("b", 500.0), ("c", 100.0))
    }
    made = {(each.known, each.job): each for each in start_forecasts(exact, case(JOBS), every_s=700, futures=40)}
    assert made["the advisor", "c"].expected == pytest.approx(made["the advisor", "c"].waited, rel=0.05)
    nothing, advisor = made["nothing", "c"], made["the advisor", "c"]
    assert nothing.high - nothing.low > 10 * (advisor.high - advisor.low)


def test_what_the_advisor_says_rests_on_what_had_ended() -> None:
    jobs = [job("a", 0, 100), job("b", 50, 100), job("other", 60, 100, gpus=2), job("c", 200, 100)]
    found = advised(jobs)
    assert list(found) == ["c"], "of b nothing had ended, and with two GPUs nobody had run"
    middle, low, high = found["c"]
    assert low < middle < high
    assert middle == pytest.approx(100)


def test_progress_is_known_of_some_running_jobs_and_as_wrong_as_was_measured() -> None:
    views = [JobView(f"j{number}", SchedulerJobState.RUNNING) for number in range(2000)]
    left_s = dict.fromkeys((view.job for view in views), 600.0)
    look = Look(5000.0, Queue(running=tuple(RunningJob(view, 4000.0, {}) for view in views)), left_s)
    known = knowledge(look, {})["advisor and progress"]
    found = [each for each in map(known, views) if isinstance(each, Expected)]
    assert len(found) == pytest.approx(2000 * SHOWS_PROGRESS, rel=0.1)
    inside = [each.low <= 600 <= each.high for each in found if each.low is not None and each.high is not None]
    assert sum(inside) / len(found) == pytest.approx(0.9, abs=0.04)
    young = Look(4100.0, look.queue, look.left_s)
    assert knowledge(young, {})["advisor and progress"](views[0]) is None
    assert limits_alone(look)(JobView("x", SchedulerJobState.RUNNING, limit_s=60.0)) is not None


def test_each_job_counts_once_and_ranges_without_an_end_are_neither_in_nor_out() -> None:
    def forecast(name: str, expected: float | None, low: float, high: float | None, waited: float) -> StartForecast:
        return StartForecast("one", "nothing", name, 0, expected, low, high, waited)

    (every, *bands) = rows([
        forecast("in", 1000, 500, 2000, 2030), forecast("in", 1000, 500, 2000, 1500),  # a minute beyond the end counts as inside
        forecast("half", 5000, 4000, 6000, 7000), forecast("half", 5000, 4000, 6000, 5000),
        forecast("early", 300, 200, 400, 100),
        forecast("open", 90_000, 100, None, 200), forecast("never", None, 100, None, 200),
    ])  # fmt: skip
    named = dict(zip(COLUMNS, every, strict=True))
    assert (named["jobs"], named["looks"]) == (5, 7)
    assert (named["inside"], named["before"], named["after"]) == (0.5, 0.333, 0.167)  # (1 + 0.5 + 0) / 3
    assert named["no upper end"] == 0.286
    # late by job: in 765, half 1000, early -200, open -89 800
    assert (named["late, median s"], named["off, median s"]) == (282, 882)
    assert [row[2] for row in bands] == [
        "below 10 minutes",
        "10 minutes to an hour",
        "1 to 6 hours",
        "6 hours and above",
        "not known",
    ]
