"""GPUs that are held and idle: when that is told, how much it is, when it is over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate_records import AlarmKind, EventKind, GpuState

from .job import Job

W, A, IDLE, U, V = GpuState.WORKING, GpuState.WAITING, GpuState.IDLE, GpuState.UNKNOWN, GpuState.VACANT


def test_a_job_without_a_log_that_does_nothing() -> None:
    job = Job()
    job.event(EventKind.STARTED, 0, nodes=["n1"], gpus=2.0)
    assert not job.gpus(1700, (IDLE, 0), (IDLE, 100))
    (alarm,) = job.gpus(2000, (IDLE, 0), (IDLE, 100))
    assert (alarm.kind, alarm.raised, alarm.node, alarm.since) == (AlarmKind.GPUS_IDLE, True, "n1", 0)
    assert (alarm.value, alarm.limit) == (2000, 1800)
    assert alarm.gpu_hours == pytest.approx((2000 + 1900) / 3600)
    assert "2 GPUs on n1 held and idle for 33 min" in alarm.detail
    assert alarm.activity is IDLE
    assert not job.gpus(3900, (IDLE, 0), (IDLE, 100))
    (again,) = job.gpus(4000, (IDLE, 0), (IDLE, 100))
    assert (again.raised, again.since, again.value) == (True, 0, 4000), "it has lasted twice as long"
    assert not job.gpus(5000, (W, 4500), (IDLE, 100))
    (over,) = job.gpus(6000, (W, 4500), (W, 5500))
    assert (over.raised, over.gpu_hours) == (False, pytest.approx((4500 + 5400) / 3600))


def test_some_of_many_gpus() -> None:
    job = Job()
    (alarm,) = job.gpus(4000, (W, 0), (IDLE, 400), (W, 0))
    assert "1 GPU on n1" in alarm.detail
    assert alarm.activity is None, "the others work"
    assert alarm.gpu_hours == pytest.approx(1)


def test_gpus_without_a_process_count_as_far_as_the_job_holds_them() -> None:
    job = Job()
    assert not job.gpus(4000, (W, 0), (V, 0), (V, 0)), "how many it holds is not known"
    job.event(EventKind.STARTED, 0, nodes=["n1", "n2"], gpus=4.0)
    (alarm,) = job.gpus(7200, (W, 0), (V, 0), (V, 0))
    assert alarm.gpu_hours == pytest.approx(2), "one of the two is its own"


def test_what_waits_in_a_kernel_or_is_not_known_is_not_idle() -> None:
    job = Job()
    assert not job.gpus(9000, (A, 0), (U, 0), (W, 0))


def test_a_gap_in_the_samples_neither_ends_nor_adds_to_it() -> None:
    job = Job()
    job.gpus(3600, (IDLE, 0))
    assert not job.gpus(20_000, (U, 20_000))
    (over,) = job.gpus(20_100, (W, 20_050))
    assert over.gpu_hours == pytest.approx(1)


def test_the_end_says_how_much_it_was() -> None:
    job = Job()
    job.gpus(3600, (IDLE, 0))
    job.gpus(7200, (IDLE, 0))
    (over,) = job.event(EventKind.ENDED, 7300)
    assert (over.kind, over.raised, over.gpu_hours) == (AlarmKind.GPUS_IDLE, False, pytest.approx(2))


def test_what_a_node_told_before_changes_nothing() -> None:
    job = Job()
    job.gpus(3600, (W, 0))
    assert not job.gpus(3000, (IDLE, 0))


STEPS = st.one_of(
    st.tuples(st.just("report"), st.integers(1, 400)),
    st.tuples(st.just("hear"), st.integers(1, 4000)),
    st.tuples(st.just("say"), st.integers(1, 400)),
    st.tuples(st.just("lost"), st.integers(1, 400)),
)
"""What a job's log tells, and how much later."""


@given(st.lists(STEPS, max_size=30))
def test_without_samples_no_alarm_names_gpus(steps: list[tuple[str, int]]) -> None:
    job, time = Job(), 0
    for what, later in steps:
        time += later
        match what:
            case "report":
                job.train([time])
            case "hear":
                job.hear(time)
            case "say":
                job.say(time, "Running evaluation")
            case _:
                job.event(EventKind.LINES_LOST, time, nodes=["n1"], gpus=8.0)
    assert all(each.kind is AlarmKind.HANG and each.activity is None for each in job.said)
    hangs = [each for each in job.said if each.raised]
    assert all(each.value > 300 for each in hangs if each.value is not None)


@given(st.lists(st.tuples(st.sampled_from([W, U]), st.integers(1, 4000)), max_size=20))
def test_samples_alone_that_show_work_or_nothing_raise_no_alarm(told: list[tuple[GpuState, int]]) -> None:
    job, time = Job(), 0
    job.event(EventKind.STARTED, 0, nodes=["n1"], gpus=8.0)
    for state, later in told:
        time += later
        job.gpus(time, (state, time - later))
    assert not job.said
