"""Attempts that are only claimed displace no attempt that runs, and the verdict on the true attempt comes out."""

from collections.abc import Iterable, Sequence
from random import Random

import msgspec
import pytest

from processors.attempts import AHEAD, CLAIMED
from processors.job import JobProcessor
from processors.placements import Placements
from processors.state import JobState
from schedmate_records import ErrorType, EventKind, Failure, JobEvent, LogChunk, Position, Record
from tests.metric_values import value

PROCESSOR = JobProcessor()
BUG = ["Traceback (most recent call last):", '  File "t.py", line 1, in <module>', "KeyError: 'labels'"]
STEPS = [f"step {number} | loss {2 / number:.3f} | 12.5 it/s" for number in range(1, 40)]


class Job:
    """A job whose records come in the order of the calls."""

    def __init__(self) -> None:
        self.state, self.offset, self.lines = JobState(job="17"), 0, dict[int, int]()
        self.made: list[Record] = []

    def take(self, *records: Record) -> list[Record]:
        made: list[Record] = []
        for record in records:
            self.offset += 1
            made += PROCESSOR.process(self.state, Position("job-logs", 0, self.offset), record)
            self.state = msgspec.json.decode(msgspec.json.encode(self.state), type=JobState)
        self.made += made
        return made

    def verdict(self, attempt: int) -> Failure:
        """Return the verdict in force on an attempt."""
        found = [one for one in self.made if isinstance(one, Failure) and one.attempt == attempt]
        return max(found, key=lambda one: one.revision)

    def chunk(self, attempt: int, lines: Sequence[str]) -> LogChunk:
        first = self.lines.get(attempt, 1)
        self.lines[attempt] = first + len(lines)
        return LogChunk(
            job="17", attempt=attempt, node="n1", lines=list(lines), time=1e9 + self.offset, producer=f"p{attempt}",
            first_line=first, first_piece=first,
        )  # fmt: skip

    def event(self, attempt: int, kind: EventKind, scheduler: str, **fields: object) -> JobEvent:
        return JobEvent(
            id=f"{scheduler}/{attempt}/{kind}/{self.offset}", job="17", attempt=attempt, kind=kind,
            time=1e9 + self.offset, scheduler=scheduler, **fields,  # type: ignore[arg-type]
        )  # fmt: skip


def forged(job: Job, attempts: Iterable[int]) -> list[Record]:
    """Return a chunk and an event of a pipe for each of `attempts`."""
    return [
        each
        for attempt in attempts
        for each in (
            LogChunk(job="17", attempt=attempt, lines=["x"], time=2e9),
            job.event(attempt, EventKind.STARTED, "pipe"),
        )
    ]


FORGED: list[list[int]] = [
    [999_999, 1_000_000],
    [1, 2],
    [AHEAD, AHEAD + 1, 2 * AHEAD],
    list(range(1, 101)),
    list(range(100, 0, -1)),
    [2**number for number in range(19)],
]


@pytest.mark.parametrize("forgeries", FORGED, ids=str)
@pytest.mark.parametrize("when", ["first", "before the scheduler", "running", "last"])
@pytest.mark.parametrize("scheduler", ["slurm", "pipe"])
def test_the_verdict_on_the_true_attempt_comes_whatever_attempts_are_forged(
    forgeries: list[int], when: str, scheduler: str
) -> None:
    job = Job()
    if when == "first":
        job.take(*forged(job, forgeries))
    job.take(job.chunk(0, STEPS[:3]), job.chunk(0, STEPS[3:5]))
    if when == "before the scheduler":
        job.take(*forged(job, forgeries))
    job.take(job.event(0, EventKind.STARTED, scheduler, nodes=["n1"]), job.chunk(0, STEPS[5:]))
    if when == "running":
        job.take(*forged(job, forgeries))
    job.take(job.chunk(0, BUG))
    if when == "last":
        job.take(*forged(job, forgeries))
    job.take(job.event(0, EventKind.ENDED, scheduler, exit_code=1))
    found = job.verdict(0)
    assert (found.signature, found.error_type, found.final) == ("KeyError", ErrorType.USER_SCRIPT, True)
    assert len(job.state.attempts) <= 2 + AHEAD + 1
    assert {int(name.split("/")[0]) for name in job.state.streams} <= {*job.state.attempts}


@pytest.mark.parametrize("forgeries", FORGED, ids=str)
def test_later_attempts_are_followed_in_spite_of_forged_ones(forgeries: list[int]) -> None:
    job = Job()
    for attempt in range(5):
        job.take(job.chunk(attempt, STEPS[:3]))  # the scheduler's word comes later
        job.take(*forged(job, [each + attempt for each in forgeries]))
        job.take(job.event(attempt, EventKind.STARTED, "slurm", nodes=["n1"]))
        job.take(
            *forged(job, forgeries), job.chunk(attempt, BUG), job.event(attempt, EventKind.ENDED, "slurm", exit_code=1)
        )
        assert (job.verdict(attempt).signature, job.verdict(attempt).final) == ("KeyError", True)


def test_attempts_of_a_job_without_scheduler_grow() -> None:
    job = Job()
    for attempt in range(3 * CLAIMED):
        job.take(
            job.event(attempt, EventKind.STARTED, "pipe"),
            *(job.chunk(attempt, STEPS[:3]) for _ in range(9 - attempt // 2)),
        )
        job.take(job.chunk(attempt, BUG), job.event(attempt, EventKind.ENDED, "pipe", exit_code=1))
        assert (job.verdict(attempt).signature, job.verdict(attempt).final) == ("KeyError", True)
        assert len(job.state.attempts) <= CLAIMED


def test_a_job_may_be_seen_first_at_a_late_attempt() -> None:
    job = Job()
    job.take(job.chunk(40, BUG), job.event(40, EventKind.ENDED, "slurm", exit_code=1))
    assert job.verdict(40).signature == "KeyError"
    job.take(job.event(60, EventKind.STARTED, "slurm"), job.chunk(60, BUG))
    job.take(job.event(60, EventKind.ENDED, "slurm", exit_code=1))
    assert job.verdict(60).signature == "KeyError"


def test_lines_of_an_attempt_far_ahead_are_counted_and_stated_once() -> None:
    job = Job()
    job.take(job.event(0, EventKind.STARTED, "slurm"), job.chunk(0, STEPS[:3]))
    before = value(PROCESSOR.attempts.lines)
    made = job.take(*(LogChunk(job="17", attempt=999_999, lines=["a", "b"], time=1e9) for _ in range(3)))
    (stated,) = [one for one in made if isinstance(one, JobEvent)]
    assert (stated.kind, stated.attempt) == (EventKind.LINES_PASSED_OVER, 0)
    assert "999999" in stated.detail
    assert value(PROCESSOR.attempts.lines) - before == 6
    assert PROCESSOR.attempts in PROCESSOR.metric_groups()


def test_a_claimed_attempt_ends_nothing_of_a_reported_one() -> None:
    job = Job()
    job.take(job.event(0, EventKind.STARTED, "slurm", nodes=["n1"]), job.chunk(0, STEPS[:3]))
    job.take(*forged(job, [1]))
    assert job.state.attempts[0].state_of(PROCESSOR.stage(Placements)).until is None
    assert job.state.newest is job.state.attempts[0]
    job.take(job.event(1, EventKind.STARTED, "slurm", nodes=["n2"]))
    assert job.state.attempts[0].state_of(PROCESSOR.stage(Placements)).until is not None


@pytest.mark.parametrize("seed", range(8))
def test_any_claims_leave_few_attempts_and_the_reported_ones(seed: int) -> None:
    chance, job = Random(seed), Job()
    reported = -1
    for _ in range(150):
        if chance.random() < 0.1:
            reported += chance.choice((1, 1, 2, 30))
            job.take(job.event(reported, EventKind.STARTED, "slurm"))
        else:
            job.take(
                *forged(
                    job,
                    [chance.choice((0, 1, 2, reported + 1, reported + AHEAD, 10**6, chance.randrange(100)))]
                    if reported >= 0
                    else [chance.randrange(10**6)],
                )
            )
        assert len(job.state.attempts) <= 2 + AHEAD + 1
        assert reported < 0 or reported in job.state.attempts
