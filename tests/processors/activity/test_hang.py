"""A hang by the log alone, with the GPUs' word, and what is none."""

from itertools import pairwise

import pytest

from processors.activity.hang import EXPLAINED_S, START_UP_S, SideWork, phase_of
from processors.activity.held import STALE_S
from processors.activity.stage import ActivityMonitor
from schedmate_records import AlarmKind, EventKind, GpuState

from .job import Job

W, A, IDLE, U, V = GpuState.WORKING, GpuState.WAITING, GpuState.IDLE, GpuState.UNKNOWN, GpuState.VACANT


@pytest.fixture
def job() -> Job:
    """A job that has reported every two seconds until second 98."""
    made = Job()
    made.train(range(0, 100, 2))
    return made


def test_a_hang_is_told_while_other_lines_come(job: Job) -> None:
    for time in range(100, 420, 10):
        job.say(time, "still here")
    (alarm,) = job.said
    assert (alarm.kind, alarm.since, alarm.limit, alarm.time, alarm.activity) == (AlarmKind.HANG, 98, 300, 400, None)
    assert "since step 98" in alarm.detail
    assert alarm.evidence[0].line == 98
    (over,) = job.report(430, step=100)
    assert (over.kind, over.raised) == (AlarmKind.HANG, False)


@pytest.mark.parametrize(
    ("state", "words"), [(A, "wait in a kernel that does not end"), (IDLE, "idle (it hangs on the host)")]
)
def test_where_the_gpus_agree_it_is_told_earlier_and_which_it_is(job: Job, state: GpuState, words: str) -> None:
    job.gpus(135, (state, 100), (state, 101))
    job.hear(160)
    assert not job.said
    job.hear(222)
    assert not job.said, "what the GPUs did since 135 is not known"
    (alarm,) = job.gpus(222, (state, 100), (state, 101))
    assert (alarm.kind, alarm.activity, alarm.since, alarm.limit) == (AlarmKind.HANG, state, 98, 90)
    assert words in alarm.detail
    assert alarm.rank is None


def test_a_gap_in_shipping_is_no_silence(job: Job) -> None:
    """The GPUs are idle for an hour, and nothing is heard of the log; nor do other ranks speak for the one that reported."""
    for time in range(100, 4000, 300):
        job.gpus(time, (IDLE, 100))
        job.hear(time, rank=5, node="n2")
    assert AlarmKind.HANG not in {each.kind for each in job.said}
    (alarm,) = job.hear(4000)
    assert (alarm.kind, alarm.value) == (AlarmKind.HANG, 4000 - 98)


def test_lines_that_were_lost_are_no_silence(job: Job) -> None:
    job.event(EventKind.LINES_LOST, 350, lines=100)
    job.hear(420)
    assert not job.said


def test_where_a_gpu_works_it_does_not_hang_until_that_is_long_ago(job: Job) -> None:
    job.gpus(700, (W, 0), (IDLE, 100))
    job.hear(500, 700, 700 + STALE_S)
    assert not job.said
    assert job.hear(701 + STALE_S)


def test_it_is_over_where_the_gpus_work_again(job: Job) -> None:
    job.gpus(300, (A, 100))
    job.hear(300)
    (over,) = job.gpus(340, (W, 310))
    assert (over.kind, over.raised) == (AlarmKind.HANG, False)
    assert "work again" in over.detail
    job.hear(900)
    assert job.kinds == [("hang", True), ("hang", False)], "one of them worked lately"
    job.gpus(1200, (A, 910))
    (again,) = job.hear(1200)
    assert again.since == 340, "another one than before"


def test_what_the_gpus_say_later_is_told_once_more(job: Job) -> None:
    job.hear(400)
    job.gpus(420, (A, 300))
    job.hear(430)
    job.gpus(460, (A, 300))
    job.hear(470)
    assert [(each.activity, each.since) for each in job.said] == [(None, 98), (A, 98)]
    assert len({each.id for each in job.said}) == 2


def test_it_is_told_again_whenever_it_has_lasted_twice_as_long(job: Job) -> None:
    for time in range(100, 10_000, 100):
        job.gpus(time, (A, 100))
        job.hear(time)
    hangs = [each for each in job.said if each.kind is AlarmKind.HANG]
    lasted = [each.value or 0 for each in hangs]
    assert lasted[0] == 102
    assert all(2 * before <= later <= 2 * before + 100 for before, later in pairwise(lasted))
    assert lasted[-1] > 4000
    assert {(each.since, each.activity) for each in hangs} == {(98, A)}
    assert len({each.id for each in hangs}) == len(hangs)


def test_gpus_that_are_not_known_agree_with_nothing(job: Job) -> None:
    job.say(99, "x", node="n2", rank=1)
    job.gpus(299, (A, 100), node="n1")
    job.hear(300)
    assert not job.said, "nothing is known of the GPUs of n2"
    job.gpus(299, (A, 100), (U, 100), node="n2")
    job.hear(301)
    assert not job.said
    (alarm,) = job.gpus(300, (A, 100), (V, 100), node="n2")
    assert alarm.activity is A


@pytest.mark.parametrize("gap", [900, 3600])
def test_pauses_that_the_job_is_known_for_are_no_hang(gap: float) -> None:
    job = Job()
    for epoch in range(4):
        job.train(range(int(epoch * (gap + 100)), int(epoch * (gap + 100)) + 100, 2))
    last = 3 * (gap + 100) + 98
    job.gpus(last + 2.4 * gap, (W, 0))
    job.hear(last + gap, last + 2.4 * gap)
    assert not job.said
    assert job.hear(last + 2.6 * gap + STALE_S)


@pytest.mark.parametrize(
    "line",
    [
        "Running validation on 5000 samples",
        "***** Running Evaluation *****",
        "[rank0] torch.compile: compiling graph 3",
        "XLA compilation of module train_step",
        "loading shard 4 of the data",
    ],
)
def test_a_phase_explains_a_silence_for_a_while(job: Job, line: str) -> None:
    job.say(100, line)
    for time in (400, 1000, 98 + EXPLAINED_S):
        job.gpus(time, (IDLE, 100))
        job.hear(time)
    assert not job.said
    job.gpus(110 + EXPLAINED_S, (IDLE, 100))
    assert job.hear(110 + EXPLAINED_S)


@pytest.mark.parametrize("line", ["validation took 3 s", "epoch 3 ended", "compiled with gcc 12", "WARNING clock skew"])
def test_what_is_over_explains_nothing(job: Job, line: str) -> None:
    job.say(99, "Running validation") if "took" in line else None
    job.say(100, line)
    assert job.hear(450)


def test_phases_of_lines() -> None:
    assert phase_of("Compiling the graph") is SideWork.COMPILATION
    assert phase_of("evaluation loss = 0.00") is SideWork.OVER
    assert phase_of("reload of the data model") is None


def test_a_save_explains_a_silence_by_how_long_saves_take(job: Job) -> None:
    job.save(100, "started", usual_duration_s=60.0)
    job.gpus(390, (IDLE, 100))
    job.hear(390)
    assert not job.said
    job.gpus(410, (IDLE, 100))
    assert job.hear(410)


@pytest.mark.parametrize(
    "after", [{"state": "durable", "durable_by": "completion"}, {"state": "started", "asynchronous": True}]
)
def test_a_save_that_is_over_or_goes_on_beside_explains_nothing(job: Job, after: dict[str, object]) -> None:
    job.save(100, "started")
    job.save(101, **after)  # type: ignore[arg-type]
    job.gpus(250, (IDLE, 100))
    assert job.hear(250)


def test_the_start_is_no_hang_unless_gpus_wait_for_very_long() -> None:
    job = Job()
    job.say(0, "initialising process group")
    for time in range(60, int(START_UP_S), 60):
        job.gpus(time, (IDLE, 0))
        job.hear(time)
    assert AlarmKind.HANG not in {each.kind for each in job.said}
    job = Job(idle_s=1e9)
    job.say(0, "initialising process group")
    job.gpus(START_UP_S + 60, (A, 30))
    (alarm,) = job.hear(START_UP_S + 60)
    assert (alarm.kind, alarm.activity, alarm.usual) == (AlarmKind.HANG, A, None)


def test_progress_of_any_kind_is_no_hang(job: Job) -> None:
    for time in range(100, 2000, 10):
        job.say(time, f"eval {time}", progress=True)
    assert not job.said


def test_a_report_of_the_same_step_again_is_no_progress(job: Job) -> None:
    for time in range(100, 500, 10):
        job.report(time, step=98)
        job.hear(time)
    assert job.kinds == [("hang", True)]


def test_too_few_reports_tell_no_rhythm() -> None:
    job = Job()
    job.train([0.0, 1.0])
    assert not job.hear(10_000)


def test_the_rank_whose_gpu_is_idle_while_its_peers_wait_is_missing(job: Job) -> None:
    job.say(90, "x", node="n2", rank=4)
    job.gpus(299, (A, 100), (A, 100), (IDLE, 101), (A, 100), node="n2")
    job.gpus(300, (A, 100), (A, 100), (A, 100), (A, 100))
    (alarm,) = job.hear(300)
    assert (alarm.activity, alarm.node, alarm.rank) == (A, "n2", 2)
    assert "GPU 2 of n2 (rank 2) is idle and not in it" in alarm.detail


def test_the_rank_that_fell_silent_first_is_named() -> None:
    job = Job()
    job.train(range(0, 100, 2), ranks=range(4))
    job.train(range(100, 140, 2), ranks=(0, 1, 3))
    (alarm,) = job.hear(500, node="n4", rank=3)
    assert (alarm.rank, alarm.node) == (2, "n3")
    assert "rank 2 on n3 fell silent first" in alarm.detail


def test_ranks_that_stop_together_or_seldom_print_are_not_named() -> None:
    job = Job()
    job.say(0, "step 0", rank=9, progress=True)
    job.train(range(0, 100, 2), ranks=range(4))
    (alarm,) = job.hear(500, node="n4", rank=3)
    assert (alarm.rank, alarm.node) == (None, "")


def test_an_end_closes_what_stands_once(job: Job) -> None:
    job.hear(1000)
    (over,) = job.event(EventKind.ENDED, 1100)
    assert (over.kind, over.raised, over.time) == (AlarmKind.HANG, False, 1100)
    assert not job.hear(5000)
    assert not job.newer_attempt(6000)


def test_a_newer_attempt_closes_what_stands_and_begins_anew(job: Job) -> None:
    job.hear(1000)
    (over,) = job.newer_attempt(1100)
    assert (over.attempt, over.kind, over.raised, over.time) == (0, AlarmKind.HANG, False, 1100)
    assert not job.report(5001, step=1)


def test_limits_are_checked() -> None:
    with pytest.raises(ValueError, match="times above 0"):
        ActivityMonitor(hang_s=0.0)
