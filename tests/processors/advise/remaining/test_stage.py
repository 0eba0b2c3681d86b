"""Estimates of what remains, from lines as frameworks print them, through the whole processor of a job."""

from collections.abc import Iterable, Iterator

import pytest

from processors.advise.remaining.stage import Remaining
from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import ANSWERED, Estimate, EventKind, JobEvent, LogChunk, Position, encode

STEP_S = 6.0


class Job:
    """A job that prints one line every six seconds, a chunk a line."""

    def __init__(self) -> None:
        self.processor, self.state = JobProcessor(), JobState(job="7")
        self.told: list[Estimate] = []
        self._offset, self.now = 0, 1000.0

    def prints(self, lines: Iterable[str], rank: int = 0, every: float = STEP_S) -> "Job":
        for text in lines:
            chunk = LogChunk(
                job="7", rank=rank, producer=f"p{rank}", seq=self._offset, lines=[text], time=self.now,
                first_line=self._offset + 1, first_piece=self._offset + 1,
            )  # fmt: skip
            self._take("job-logs", chunk)
            self.now += every
        return self

    def event(self, kind: EventKind) -> "Job":
        self._take("job-events", JobEvent(id=f"{kind}", job="7", kind=kind, time=self.now, scheduler="slurm"))
        return self

    @property
    def newest(self) -> Estimate:
        return self.told[-1]

    def _take(self, topic: str, record: LogChunk | JobEvent) -> None:
        made = self.processor.process(self.state, Position(topic, 0, self._offset), record)
        self.told += [each for each in made if isinstance(each, Estimate)]
        self._offset += 1


def steps(count: int, total: int, first: int = 0, name: str = "step") -> Iterator[str]:
    return (f"{name} {step * 10}/{total} loss {2 - step / 100:.3f}" for step in range(first, first + count))


def bar(epoch: str, total: int = 40, every: int = 5) -> Iterator[str]:
    return (
        f"{epoch}{step}/{total} [00:10<00:20, 2.00it/s, loss={1 / step:.3f}]" for step in range(every, total + 1, every)
    )


def test_a_counter_with_an_end_gives_what_remains_and_the_duration() -> None:
    job = Job().event(EventKind.STARTED).prints(steps(41, 1000))
    found = job.newest
    assert found.remaining_s is not None
    assert found.remaining_s + found.time - job.now == pytest.approx(60 * STEP_S - STEP_S, rel=0.03)
    assert found.remaining_low_s is not None
    assert found.remaining_high_s is not None
    assert found.remaining_low_s < found.remaining_s < found.remaining_high_s
    assert found.duration_s == pytest.approx(found.time - 1000.0 + found.remaining_s)
    assert (found.method, found.job, found.revision) == ("progress", "7", ANSWERED + len(job.told))
    assert found.done is not None
    assert 0 < found.done < 1
    assert found.evidence[0].text.startswith("step ")


def test_a_steady_job_has_one_estimate_for_each_hundredth_of_its_work() -> None:
    job = Job().prints(steps(90, 1000))
    assert 70 <= len(job.told) <= 100
    assert job.told[-1].done == pytest.approx(0.9, abs=0.011)
    assert [each.revision for each in job.told] == list(range(ANSWERED + 1, ANSWERED + len(job.told) + 1)), (
        "what a model's answer revises stands below"
    )
    assert len({each.id for each in job.told}) == len(job.told)


def test_what_a_job_trains_says_nothing_of_how_it_runs() -> None:
    plain, described = Job(), Job()
    lines = list(steps(60, 1000))
    plain.prints(lines[:30]).prints(lines[30:])
    described.prints(lines[:30])
    described.event(EventKind.DESCRIBED).prints(lines[30:])
    assert [(each.revision, each.remaining_s) for each in described.told] == [
        (each.revision, each.remaining_s) for each in plain.told
    ]


def test_a_job_that_is_slowed_is_told_of_anew() -> None:
    job = Job().prints(steps(40, 1000))
    before, count = job.newest, len(job.told)
    job.prints(steps(30, 1000, first=40), every=3 * STEP_S)
    assert len(job.told) > count
    assert before.remaining_s is not None
    assert job.newest.remaining_s is not None
    assert job.newest.time + job.newest.remaining_s > before.time + before.remaining_s + 300


def test_epochs_that_begin_anew_count_whole() -> None:
    job = Job()
    for epoch in (1, 2):
        job.prints(f"Epoch {epoch}/5 step {step}/50 loss 0.5" for step in range(5, 51, 5))
    found = job.newest
    assert found.remaining_s is not None
    assert found.time + found.remaining_s == pytest.approx(1000.0 + 49 * STEP_S, rel=0.02)
    assert found.done == pytest.approx(1 - found.remaining_s / (50 * STEP_S), abs=0.05)


def test_headings_above_bars_tell_the_epochs() -> None:
    job = Job()
    for epoch in (1, 2, 3):
        job.prints([f"Epoch {epoch}/4"]).prints(bar(""))
    found = job.newest
    assert found.remaining_s is not None
    assert found.time + found.remaining_s == pytest.approx(1000.0 + 36 * STEP_S, rel=0.04)


def test_a_lone_bar_has_no_upper_end_and_is_taken_back_when_it_begins_anew() -> None:
    job = Job().prints(bar("", total=200))
    assert job.newest.remaining_s is not None
    assert job.newest.remaining_high_s is None
    job.prints(bar("", total=200))
    assert job.newest.method == "unknown"
    assert (job.newest.remaining_s, job.newest.duration_s) == (None, None)
    assert job.newest.evidence


def test_what_was_announced_is_the_end_of_a_counter_without_one() -> None:
    lines = [f"step {step * 10} loss {2 - step / 100:.3f}" for step in range(40)]
    silent = Job().prints(lines)
    assert silent.told == []
    job = Job().prints(["  Total optimization steps = 1,000"]).prints(lines)
    assert job.newest.remaining_s is not None
    assert job.newest.time + job.newest.remaining_s == pytest.approx(1000.0 + 101 * STEP_S, rel=0.03)


def test_the_end_of_the_attempt_ends_the_estimates() -> None:
    job = Job().prints(steps(20, 1000)).event(EventKind.ENDED)
    count = len(job.told)
    job.prints(steps(20, 1000, first=20), every=10 * STEP_S)
    assert len(job.told) == count


def test_ranks_that_print_alike_speak_once() -> None:
    job = Job()
    for line in steps(30, 1000):
        for rank in (0, 1):
            job.prints([line], rank=rank, every=STEP_S / 2)
    alone = Job().prints(steps(30, 1000))
    assert len(job.told) == len(alone.told)
    assert {each.evidence[0].rank for each in job.told} == {0}


def test_a_replay_says_the_same() -> None:
    first, second = Job().prints(steps(60, 1000)), Job().prints(steps(60, 1000))
    assert list(map(encode, first.told)) == list(map(encode, second.told))


def test_what_is_remembered_stays_small() -> None:
    job = Job().prints(steps(300, 3000))
    state = job.state.attempts[0].state_of(job.processor.stage(Remaining))
    assert len(state.marks) <= 64
    assert state.marks[0].rest > state.marks[-1].rest


@pytest.mark.parametrize(
    "line", ["step 50/10 loss 1", "Epoch 9/3 step 5/10 loss 1", "epochs: 0", "max_steps=999999999999999999999"]
)
def test_counters_beyond_their_end_say_nothing(line: str) -> None:
    assert all(each.remaining_s is None or each.remaining_s >= 0 for each in Job().prints([line] * 30).told)


@pytest.mark.parametrize("left", [("1e300", "9e299", "8e299", "7e299"), ("100", "1e-300", "1e-310", "1e-320")])
def test_an_absurd_time_left_makes_no_chunk_fail(left: tuple[str, ...]) -> None:
    """From then on every chunk with a report was a dead letter."""
    told = [*left, "500", "400", "300", "200", "100", "50", "20", "10", "5"]
    job = Job().prints(f"step {place * 10 + 1} loss 2.{place} eta {each} s" for place, each in enumerate(told))
    assert 0 < (job.newest.remaining_s or 0) < 1e6
