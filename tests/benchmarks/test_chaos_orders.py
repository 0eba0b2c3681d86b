"""Records of another order of two topics are told from schedmate_records of two orders, mixed."""

from benchmarks.chaos.orders import Input, OrderSearch
from benchmarks.chaos.program import CAUSES
from benchmarks.chaos.replay import MADE, identity
from processors.job import JobProcessor
from schedmate.assembly import job_processor
from schedmate.settings.settings import Settings
from schedmate_records import EventKind, JobEvent, LogChunk, Position, Record
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


def made(processor: JobProcessor, order: list[Input]) -> dict[str, bytes]:
    state = processor.fresh("j")
    records = [outgoing(each) for place, record in order for each in processor.process(state, place, record)]
    return {identity(each.value): each.value for each in records if each.topic in MADE and each.value is not None}


def test_any_one_order_is_found_and_a_mixture_is_not() -> None:
    processor = job_processor(Settings().processors)
    as_written = made(processor, [*LOGS, *EVENTS])
    event_first = made(processor, [LOGS[0], *EVENTS, LOGS[1]])
    assert as_written != event_first
    assert OrderSearch(processor, as_written, [LOGS, EVENTS]).found("j")
    assert OrderSearch(processor, event_first, [LOGS, EVENTS]).found("j")
    assert not OrderSearch(processor, as_written | event_first, [LOGS, EVENTS]).found("j")
    assert not OrderSearch(processor, {}, [LOGS, EVENTS]).found("j")
