"""Jobs that use an id one after the other."""

from collections.abc import Iterable

import msgspec
import pytest

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import (
    ErrorType,
    EventKind,
    Failure,
    JobEvent,
    JobMetric,
    LogChunk,
    Position,
    Record,
    incarnation_of_time,
)

FIRST, SECOND = 1_000_000.0, 1_000_000.0 + 60 * 86_400
STEPS = [f"step {step} | loss {10 / step:.4f} | step_time 0.0200 s" for step in range(1, 41)]
BUG = [
    "Traceback (most recent call last):",
    '  File "/home/u/train.py", line 8, in <module>',
    "    main()",
    "KeyError: 'label'",
]


def event(
    kind: EventKind, time: float, submitted: float | None, *, scheduler: str = "slurm", code: int = 0
) -> JobEvent:
    ends = kind is EventKind.ENDED
    return JobEvent(
        id=f"{scheduler}/{submitted}/{kind}",
        job="4711",
        incarnation=incarnation_of_time(submitted),
        kind=kind,
        time=time,
        scheduler=scheduler,
        nodes=["n1"],
        exit_code=code if ends else None,
        signal=0 if ends else None,
        state=("FAILED" if code else "COMPLETED") if ends else "",
    )


def chunk(lines: list[str], time: float, *, incarnation: str = "", producer: str = "p") -> LogChunk:
    return LogChunk(
        job="4711",
        incarnation=incarnation,
        node="n1",
        producer=producer,
        lines=lines,
        time=time,
        first_line=1,
        first_piece=1,
    )


class Run:
    """A job processor with the state of one id."""

    def __init__(self) -> None:
        self.processor, self.state = JobProcessor(), JobState(job="4711")
        self._offsets: dict[str, int] = {}

    def take(self, *given: Record) -> list[Record]:
        made: list[Record] = []
        for record in given:
            topic = "job-logs" if isinstance(record, LogChunk) else "job-events"
            self._offsets[topic] = self._offsets.get(topic, -1) + 1
            position = Position(topic, 0, self._offsets[topic])
            made += self.processor.process(self.state, position, record)
            self.state.include(position)
        return made


def verdicts(made: Iterable[Record]) -> list[Failure]:
    return [each for each in made if isinstance(each, Failure)]


def first_job(run: Run) -> list[Record]:
    return run.take(
        event(EventKind.SUBMITTED, FIRST, FIRST),
        event(EventKind.STARTED, FIRST + 5, FIRST),
        chunk([*STEPS, *BUG], FIRST + 10),
        event(EventKind.ENDED, FIRST + 20, FIRST, code=1),
    )


def test_progress_of_a_second_job_does_not_retract_the_first_ones_verdict() -> None:
    run = Run()
    first = verdicts(first_job(run))[-1]
    made = run.take(
        event(EventKind.SUBMITTED, SECOND, SECOND),
        event(EventKind.STARTED, SECOND + 5, SECOND),
        chunk(STEPS, SECOND + 10, producer="q"),
        event(EventKind.ENDED, SECOND + 60, SECOND),
    )
    assert (first.signature, first.incarnation, first.final) == ("KeyError", incarnation_of_time(FIRST), True)
    assert [each for each in verdicts(made) if each.incarnation == first.incarnation] == []
    assert all(each.error_type is ErrorType.NONE for each in verdicts(made))
    metrics = [each for each in made if isinstance(each, JobMetric)]
    assert metrics
    assert {each.incarnation for each in metrics} == {incarnation_of_time(SECOND)}


def test_the_same_failure_of_two_jobs_has_two_ids() -> None:
    run = Run()
    first = verdicts(run.take(*(event(kind, FIRST, FIRST, code=9) for kind in (EventKind.STARTED, EventKind.ENDED))))
    second = verdicts(run.take(*(event(kind, FIRST, SECOND, code=9) for kind in (EventKind.STARTED, EventKind.ENDED))))
    assert first
    assert second
    assert {each.id for each in first}.isdisjoint(each.id for each in second)


def test_a_new_job_concludes_the_one_before_it() -> None:
    run = Run()
    made = run.take(
        event(EventKind.SUBMITTED, FIRST, FIRST),
        event(EventKind.STARTED, FIRST + 5, FIRST),
        chunk([*STEPS, *BUG], FIRST + 10),
        event(EventKind.SUBMITTED, SECOND, SECOND),
    )
    assert {each.incarnation for each in verdicts(made)} == {incarnation_of_time(FIRST)}
    assert run.state.incarnation == incarnation_of_time(SECOND)
    assert not run.state.attempts[0].ended


def test_late_records_of_a_replaced_job_change_nothing() -> None:
    run = Run()
    first_job(run)
    run.take(event(EventKind.SUBMITTED, SECOND, SECOND), event(EventKind.STARTED, SECOND + 5, SECOND))
    late = run.take(
        event(EventKind.ENDED, FIRST + 20, FIRST, code=1),
        chunk(BUG, SECOND + 6, incarnation=incarnation_of_time(FIRST)),
    )
    assert late == []
    assert not run.state.attempts[0].ended


@pytest.mark.parametrize("later", [2.0, 7200.0])
@pytest.mark.parametrize("incarnation", ["another", "pipe:2026-01-01T00:00:00.000Z"])
def test_lines_do_not_displace_a_job_that_runs(incarnation: str, later: float) -> None:
    run = Run()
    run.take(
        event(EventKind.SUBMITTED, FIRST, FIRST), event(EventKind.STARTED, FIRST + 5, FIRST), chunk(STEPS, FIRST + 10)
    )
    run.take(chunk(STEPS, FIRST + 10 + later, incarnation=incarnation, producer="forger"))
    assert run.state.incarnation == incarnation_of_time(FIRST)
    made = run.take(chunk(BUG, FIRST + 20, producer="r"), event(EventKind.ENDED, FIRST + 30, FIRST, code=1))
    assert verdicts(made)[-1].signature == "KeyError"


def test_lines_before_the_first_event_belong_to_the_job_that_it_names() -> None:
    run = Run()
    made = run.take(
        chunk([*STEPS, *BUG], FIRST + 10),
        event(EventKind.SUBMITTED, FIRST, FIRST),
        event(EventKind.STARTED, FIRST + 5, FIRST),
        event(EventKind.ENDED, FIRST + 20, FIRST, code=1),
    )
    assert (verdicts(made)[-1].signature, verdicts(made)[-1].incarnation) == ("KeyError", incarnation_of_time(FIRST))


def test_a_pipe_that_runs_again_under_the_same_id_is_another_job() -> None:
    run = Run()
    one, two = "pipe:2026-01-01T00:00:00.000Z", "pipe:2026-01-01T01:00:00.000Z"

    def piped(incarnation: str, time: float, lines: list[str], code: int) -> list[Record]:
        started, ended = (
            msgspec.structs.replace(event(kind, time, None, scheduler="pipe", code=code), incarnation=incarnation)
            for kind in (EventKind.STARTED, EventKind.ENDED)
        )
        return run.take(started, chunk(lines, time, incarnation=incarnation, producer=incarnation), ended)

    first = piped(one, FIRST, [*STEPS, *BUG], 1)
    second = piped(two, FIRST + 30, STEPS, 0)
    assert verdicts(first)[-1].incarnation == one
    assert [each for each in verdicts(second) if each.incarnation == one] == []
    assert {each.incarnation for each in second if isinstance(each, JobMetric)} == {two}
