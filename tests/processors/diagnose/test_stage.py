"""A verdict says how far the training had come, where the counters say so."""

import msgspec
import pytest

from processors.diagnose.stage import ReachedState
from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import ErrorType, EventKind, Failure, JobEvent, JobMetric, LogChunk, Position, Record

from .jobs import FALLEN

PROCESSOR = JobProcessor()
STEPS = [f"step {step} | loss {10 / step:.4f} | step_time 2.0 s" for step in range(1, 41)]
NOTHING = (None, None)


def metric(step: int | None, epoch: float | None = None, rank: int = 0, total: int | None = None) -> JobMetric:
    return JobMetric(id="m", job="7", time=0.0, rank=rank, step=step, epoch=epoch, step_total=total)


def reached(*metrics: JobMetric) -> tuple[int | None, float | None]:
    state = ReachedState()
    for each in metrics:
        state.on_metric(each)
    told = state.stated_in(Failure(id="f", job="7", time=0.0, message="m", error_type=ErrorType.OTHER))
    return told.step, told.epoch


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ([], NOTHING),
        ([metric(None, 1.0)], NOTHING),
        ([metric(10), metric(20)], (20, None)),
        ([metric(10), metric(10), metric(None)], (10, None)),
        ([metric(900, 1), metric(100, 2)], (100, 2)),
        ([metric(900, 1), metric(950)], (950, 1)),
        ([metric(10), metric(999, rank=1)], (10, None)),
    ],
)
def test_the_newest_step_of_the_rank_that_tells_first(
    metrics: list[JobMetric], expected: tuple[int | None, float | None]
) -> None:
    assert reached(*metrics) == expected


@pytest.mark.parametrize(
    "metrics",
    [
        [metric(900), metric(100), metric(2000)],
        [metric(900, 2), metric(950, 1)],
        [metric(900, 2), metric(100)],
        [metric(1000, total=1000), metric(1000, total=1000)],
    ],
)
def test_of_a_counter_that_begins_anew_nothing_is_told(metrics: list[JobMetric]) -> None:
    assert reached(*metrics) == NOTHING


def test_a_counter_at_its_end_in_each_epoch_is_known_by_the_epoch() -> None:
    assert reached(metric(1000, 1, total=1000), metric(1000, 2, total=1000)) == (1000, 2)


def chunk(lines: list[str], number: int, rank: int = 0, first: int = 1) -> LogChunk:
    return LogChunk(
        job="7",
        node=f"n{rank}",
        rank=rank,
        producer=f"p{rank}",
        lines=lines,
        time=100.0 + number,
        first_line=first,
        first_piece=first,
    )


def ended(time: float = 200.0) -> JobEvent:
    return JobEvent(id="end", job="7", kind=EventKind.ENDED, time=time, exit_code=1, state="FAILED", nodes=["n0"])


def verdicts(*given: Record) -> list[Failure]:
    """Put records through all stages, the state stored and read back before each."""
    state, made = JobState(job="7"), list[Record]()
    for offset, record in enumerate(given):
        topic = "job-logs" if isinstance(record, LogChunk) else "job-events"
        made += PROCESSOR.process(state, Position(topic, 0, offset), record)
        state = msgspec.json.decode(msgspec.json.encode(state), type=JobState)
    return [each for each in made if isinstance(each, Failure)]


def test_a_verdict_says_the_step_and_the_last_one_the_last_step() -> None:
    made = verdicts(chunk(STEPS[:20], 0), chunk([FALLEN], 5, rank=1), chunk(STEPS[20:22], 6, first=21), ended())
    assert [(each.signature, each.step, each.final) for each in made] == [
        ("xid_fallen_off_bus", 20, False),
        ("xid_fallen_off_bus", 22, True),
    ]


def test_its_id_does_not_depend_on_that() -> None:
    early = verdicts(chunk([FALLEN], 5, rank=1), chunk(STEPS[:20], 6), ended())
    late = verdicts(chunk([FALLEN], 5, rank=1), ended(), chunk(STEPS[:20], 6))
    assert (early[-1].step, late[-1].step) == (20, None)
    assert early[-1].id == late[-1].id


def test_a_job_that_tells_no_step_has_none() -> None:
    assert {each.step for each in verdicts(chunk(["loading data", FALLEN], 0), ended())} == {None}
