"""SRTF and Tiresias against cases worked out by hand, and SRPT's optimality."""

from hypothesis import given
from hypothesis import strategies as st

from schedmate.simulate.policies.srtf import Srtf
from schedmate.simulate.policies.tiresias import Tiresias
from schedmate.simulate.simulation import Costs

from .running import FREE, job, run, times


def test_srtf_preempts_the_job_with_more_left() -> None:
    # At 10 `long` has 90 left, `short` 20: it goes, pays 40 s, and starts again when `short` is seen to have ended, in the second after
    # its last second.
    runs = run([job("long", 0, 100), job("short", 10, 20)], Srtf(), [1], Costs())
    assert times(runs) == {"long": (0, 31 + 90 + 40 + 1), "short": (10, 31)}
    assert runs["long"].evictions == 1
    assert runs["long"].queued == 21


def test_srtf_leaves_a_job_alone_that_has_less_left() -> None:
    assert times(run([job("first", 0, 30), job("second", 20, 20)], Srtf(), [1])) == {
        "first": (0, 31),
        "second": (31, 52),
    }


def test_srtf_starts_a_waiting_job_that_a_running_one_overtook_when_the_quota_allows() -> None:
    # `wide` waits for 2 GPUs with less left than `a`; when it comes `a` goes, `b` too, for 2 GPUs are not left beside either.
    runs = run([job("a", 0, 50), job("b", 0, 60), job("wide", 5, 10, 2)], Srtf(), [2])
    assert times(runs) == {"a": (0, 62), "b": (0, 72), "wide": (5, 16)}


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30)), min_size=1, max_size=7))
def test_srtf_is_optimal_on_one_machine(shapes: list[tuple[int, int]]) -> None:
    """Where preemption is free, no schedule has a lower mean completion than SRPT; second by second, the reference is Schrage's rule."""
    jobs = [job(str(place), submit, duration) for place, (submit, duration) in enumerate(sorted(shapes))]
    ended = {name: each.ended for name, each in run(jobs, _Continuous(), [1], FREE).items()}
    left = {each.job_id: each.duration_s for each in jobs}
    now, total = 0, 0.0
    while left:
        ready = [each for each in jobs if each.submit_s <= now and each.job_id in left]
        now += 1
        if ready:
            name = min(ready, key=lambda each: left[each.job_id]).job_id
            left[name] -= 1
            if not left[name]:
                del left[name]
                total += now
    assert sum(end or 0 for end in ended.values()) == total


class _Continuous(Srtf):
    """SRTF that sees an end when it happens, and not in the next second."""

    polls = False


def test_tiresias_decides_once_a_minute_and_prefers_jobs_that_had_little() -> None:
    # `first` has had more than 18,000 GPU seconds (8 GPUs for 2250 s) at the minute 2280; `second`, waiting since 30, takes its place then.
    runs = run([job("first", 0, 5000, 8), job("second", 30, 100, 8)], Tiresias(), [8], Costs())
    assert runs["second"].first_start == 2280
    assert runs["second"].ended == 2280 + 101
    assert runs["first"].evictions == 1
    # It starts again at the next minute and has 5000 - 2280 + 40 left.
    assert runs["first"].ended == 2400 + 2760 + 1


def test_tiresias_serves_a_queue_in_the_order_of_submission() -> None:
    runs = run([job("a", 0, 100), job("b", 10, 10), job("c", 20, 10)], Tiresias(), [1])
    assert [runs[name].first_start for name in "abc"] == [0, 120, 180]
