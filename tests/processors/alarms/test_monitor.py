"""What raises an alarm, what ends it, and what raises none."""

import itertools
import random
from collections.abc import Iterable

import msgspec
import pytest

from processors.alarms.monitor import UNMEASURED, AlarmMonitor, AlarmState
from processors.alarms.standing import ALARMS
from schedmate_records import Alarm, AlarmKind, EventKind, Evidence, JobEvent, JobMetric, OverRanks, Position


class Job:
    """A job under watch."""

    def __init__(self) -> None:
        self.monitor, self.state, self.said = AlarmMonitor(), AlarmState(), list[Alarm]()
        self._offsets = itertools.count()

    def place(self) -> Position:
        return Position("job-logs", 0, next(self._offsets))

    def report(self, time: float, **fields: object) -> list[Alarm]:
        place = self.place()
        line = Evidence(topic="job-logs", partition=0, offset=place.offset, line=int(time), text=f"at {time}")
        metric = JobMetric(id=f"m{place.offset}", job="7", time=time, confidence=0.9, evidence=[line], **fields)
        found = self.monitor.on_metric(metric, place, self.state)
        self.said += found
        return found

    def run(self, times: Iterable[float], **fields: object) -> None:
        for time in times:
            self.report(time, step=int(time), **fields)

    @property
    def kinds(self) -> list[tuple[str, bool]]:
        return [(alarm.kind.value, alarm.raised) for alarm in self.said]


@pytest.fixture
def job() -> Job:
    return Job()


def test_a_loss_that_is_no_number_is_said_once_with_its_line(job: Job) -> None:
    job.run(range(30), loss=2.0)
    (alarm,) = job.report(30, step=30, loss_not_finite=True)
    assert (alarm.kind, alarm.raised, alarm.since) == (AlarmKind.LOSS_NOT_FINITE, True, 30)
    assert (alarm.evidence[0].line, alarm.detail) == (30, "Loss NaN since line 30")
    assert not job.report(31, step=31, loss_not_finite=True)
    (over,) = job.report(32, step=32, loss=2.0)
    assert (over.kind, over.raised, over.since) == (AlarmKind.LOSS_NOT_FINITE, False, 30)
    assert len({alarm.id for alarm in job.said}) == 2


def test_a_loss_that_is_nan_names_the_step_of_its_first_line(job: Job) -> None:
    job.run(range(30), loss=2.0)
    first = Evidence(topic="job-logs", partition=0, offset=30, line=126, text="step 125 | loss nan | 0.25 s/it")
    newest = msgspec.structs.replace(first, line=166, text="step 165 | loss nan | 0.25 s/it")
    metric = JobMetric(
        id="m", job="7", time=30, step=165, loss_not_finite=True, confidence=0.9, evidence=[newest, first]
    )
    (alarm,) = job.monitor.on_metric(metric, job.place(), job.state)
    assert alarm.detail == "Loss NaN since step 125"


def test_an_average_over_nothing_yet_is_no_alarm(job: Job) -> None:
    for step in range(1, UNMEASURED + 1):
        job.report(step, step=step, loss_not_finite=True, reports=step)
    job.report(UNMEASURED + 1, step=UNMEASURED + 1, loss=2.0, reports=UNMEASURED + 1)
    assert not job.said


def test_a_loss_that_was_never_a_number_is_an_alarm(job: Job) -> None:
    for step in range(1, UNMEASURED + 10):
        job.report(step, step=step, loss_not_finite=True, reports=step)
    assert [alarm.since for alarm in job.said] == [UNMEASURED + 1]


def test_a_loss_spike_is_told_against_its_own_past(job: Job) -> None:
    noise = random.Random(1)
    for step in range(200):
        job.report(step, step=step, loss=10 / (1 + step / 20) + noise.uniform(-0.2, 0.2))
    assert not job.said, "a loss that falls and trembles is healthy"
    for step in range(200, 206):
        job.report(step, step=step, loss=6.0 + step / 100)
    (alarm,) = job.said
    assert (alarm.kind, alarm.since, alarm.value) == (AlarmKind.LOSS_SPIKE, 200, 6.0 + 202 / 100)
    assert alarm.usual == pytest.approx(1.1, abs=0.4)
    assert [line.line for line in alarm.evidence] == [202, 199]
    job.report(206, step=206, loss=1.0)
    assert job.kinds == [("loss_spike", True), ("loss_spike", False)]


def test_metrics_that_repeat_one_odd_loss_are_no_spike(job: Job) -> None:
    for step in range(40):
        job.report(step, step=step, loss=1 + step % 7 / 100)
    for step in range(40, 60):
        job.report(step, step=step, loss=50.0)
    assert not job.said


def test_steps_that_became_slower(job: Job) -> None:
    job.run(range(0, 200, 5), step_time_s=0.4)
    job.run(range(200, 400, 5), step_time_s=0.7)
    job.run(range(400, 420, 5), step_time_s=0.4)
    raised, over = job.said
    assert (raised.kind, raised.value, raised.usual, raised.limit) == (AlarmKind.SLOWER, 0.7, 0.4, pytest.approx(0.6))
    assert raised.time - raised.since == 20, "three looks, 10 s apart"
    assert (over.raised, over.time) == (False, 400)


def test_an_unsure_step_time_is_not_believed(job: Job) -> None:
    job.run(range(0, 200, 5), step_time_s=0.4)
    for time in range(200, 400, 5):
        place = job.place()
        metric = JobMetric(id="m", job="7", time=time, step=time, step_time_s=4.0, confidence=0.3)
        assert not job.monitor.on_metric(metric, place, job.state)


def ranks(lag: float, slowest: int = 3) -> OverRanks:
    return OverRanks(ranks=8, step_time_s=0.5, spread=lag - 1, slowest=slowest, lag=lag)


def test_a_straggler_is_named(job: Job) -> None:
    job.run(range(20), over_ranks=ranks(1.02))
    job.run(range(20, 30), over_ranks=ranks(1.6))
    (alarm,) = job.said
    assert (alarm.kind, alarm.rank, alarm.since) == (AlarmKind.STRAGGLER, 3, 20)
    assert (alarm.value, alarm.usual) == (pytest.approx(0.8), 0.5)
    job.run(range(30, 32), over_ranks=ranks(1.0))
    assert job.kinds == [("straggler", True), ("straggler", False)]


def test_ranks_that_are_slowest_by_turns_are_no_stragglers(job: Job) -> None:
    for time in range(100):
        job.report(time, step=time, over_ranks=ranks(1.6, slowest=time % 4))
    assert not job.said


def test_an_end_closes_what_stands_once(job: Job) -> None:
    job.report(5, step=5, loss=1.0)
    job.report(10, step=10, loss_not_finite=True)
    ended = JobEvent(id="e", job="7", kind=EventKind.ENDED, time=1100)
    (over,) = job.monitor.on_event(ended, job.place(), job.state)
    assert (over.kind, over.raised, over.time) == (AlarmKind.LOSS_NOT_FINITE, False, 1100)
    assert not job.report(5000, step=11, loss_not_finite=True)
    assert not job.monitor.on_superseded("7", 0, 6000, job.place(), job.state)


def test_a_newer_attempt_closes_what_stands(job: Job) -> None:
    job.report(5, step=5, loss=1.0)
    job.report(10, step=10, loss_not_finite=True)
    (over,) = job.monitor.on_superseded("7", 0, 1100, job.place(), job.state)
    assert (over.attempt, over.kind, over.raised, over.time) == (0, AlarmKind.LOSS_NOT_FINITE, False, 1100)
    assert not job.report(5001, step=1)


def test_a_job_that_alarms_all_the_time_falls_silent(job: Job) -> None:
    for step in range(0, 8 * ALARMS, 2):
        job.report(step, step=step, loss_not_finite=True)
        job.report(step + 1, step=step + 1, loss=float(step))
    assert len(job.said) == 2 * ALARMS


def test_limits_are_checked() -> None:
    with pytest.raises(ValueError, match="ratios above 1"):
        AlarmMonitor(slower=0.9)
