"""The search finds the order of topics that a job's records follow from, and none for records of two orders."""

from benchmarks.chaos.orders import Input, OrderSearch
from benchmarks.chaos.program import CAUSES
from benchmarks.chaos.replay import MADE, identity
from processors.job import JobProcessor
from schedmate.assembly import job_processor
from schedmate.settings.settings import Settings
from schedmate_records import EventKind, Failure, JobEvent, LogChunk, Position, Record, decode
from streams.transport import outgoing


def chunk(number: int, lines: list[str]) -> Input:
    first = number * 10 + 1
    record = LogChunk(
        job="j", producer="p", seq=number, lines=lines, time=10.0 + number, first_line=first, first_piece=first
    )
    return Position("job-logs", 0, number), record


LOGS = [
    chunk(0, [f"step {step} | loss 0.5 | step_time 0.05 s" for step in range(1, 11)]),
    chunk(1, ["step 11 | loss 0.5 | step_time 0.05 s", CAUSES["xid"]]),
]
ENDED: Record = JobEvent(id="e", job="j", kind=EventKind.ENDED, time=11.5, exit_code=1, state="FAILED")
EVENTS = [(Position("job-events", 0, 0), ENDED)]


PIPE_ENDED: Record = JobEvent(
    id="pipe/j/0/ended/p", job="j", kind=EventKind.ENDED, time=11.5, scheduler="pipe", exit_code=1, signal=0
)
STARTED: Record = JobEvent(id="s", job="j", kind=EventKind.STARTED, time=9.0, scheduler="slurm", nodes=["n1"])
FAILED: Record = JobEvent(
    id="f", job="j", kind=EventKind.ENDED, time=11.6, scheduler="slurm", exit_code=1, signal=0, state="FAILED"
)


def made(processor: JobProcessor, order: list[Input]) -> dict[str, bytes]:
    state = processor.fresh("j")
    records = [outgoing(each) for place, record in order for each in processor.process(state, place, record)]
    return {
        identity(each.topic, each.value): each.value
        for each in records
        if each.topic in MADE and each.value is not None
    }


def test_any_one_order_is_found_and_a_mixture_is_not() -> None:
    processor = job_processor(Settings().processors)
    as_written = made(processor, [*LOGS, *EVENTS])
    event_first = made(processor, [LOGS[0], *EVENTS, LOGS[1]])
    assert as_written != event_first
    assert OrderSearch(processor, as_written, [LOGS, EVENTS]).found("j")
    assert OrderSearch(processor, event_first, [LOGS, EVENTS]).found("j")
    assert not OrderSearch(processor, as_written | event_first, [LOGS, EVENTS]).found("j")
    assert not OrderSearch(processor, {}, [LOGS, EVENTS]).found("j")


def test_an_order_that_repeats_verdicts_is_found() -> None:
    processor = job_processor(Settings().processors)
    pipe = [(Position("pipe-events", 0, 0), PIPE_ENDED)]
    scheduler = [(Position("job-events", 0, number), event) for number, event in enumerate((STARTED, FAILED))]
    late_scheduler = made(processor, [*LOGS, *pipe, *scheduler])
    failures = [decode(Failure, value) for key, value in late_scheduler.items() if key.startswith("failure/")]
    assert [each.revision for each in failures] == [1, 2, 3, 4]
    assert [each.id for each in failures[2:]] == [each.id for each in failures[:2]]
    assert OrderSearch(processor, late_scheduler, [LOGS, scheduler, pipe]).found("j")
