"""One log, live, in one process."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import (
    Alarm,
    ErrorType,
    Estimate,
    EventKind,
    Evidence,
    Failure,
    JobEvent,
    JobMetric,
    Position,
    Record,
)
from streams.producers.stored import follow_chunks

from ..advisor.remaining import remains
from ..report.report import rate, seconds, verdict


def watch(file: Path, processor: JobProcessor, every: float, stop: Callable[[], bool]) -> Iterator[str]:
    """Yield a line of text for each record that is shown; progress at most once in `every` seconds."""
    state, shown, newest, offset = JobState(job=file.name), 0.0, None, -1
    expected: Estimate | None = None
    stands: list[str] = []
    for offset, chunk in enumerate(follow_chunks(file, stop)):
        for record in processor.process(state, Position(file.name, 0, offset), chunk):
            if lines := _announcement(record):
                stands = lines if isinstance(record, Failure) else stands
                yield from _with_time(chunk.time, lines)
            elif isinstance(record, JobMetric):
                newest = record
            elif isinstance(record, Estimate):
                expected = record if record.remaining_s is not None else None
        if newest and time.monotonic() >= shown + every:
            shown = time.monotonic()
            yield _progress(newest, expected)
            newest = None
    if newest:
        yield _progress(newest, expected)
    yield from _end(processor, state, stands)


def _end(processor: JobProcessor, state: JobState, stands: list[str]) -> Iterator[str]:
    """The last verdict of an attempt is written at its end. Mostly it equals the current one."""
    now = time.time()
    ended = JobEvent(id="end", job=state.job, kind=EventKind.ENDED, time=now)
    for record in processor.process(state, Position(state.job, 1, 0), ended):
        if isinstance(record, Failure) and _announcement(record) != stands:
            yield from _with_time(now, _announcement(record))


def _announcement(record: Record) -> list[str]:
    """Return the text that is shown for a record at once, with its evidence; empty for most records."""
    match record:
        case Failure(error_type=ErrorType.NONE):
            return [f"retracted: {record.message}"]
        case Failure():
            return [verdict(record), *map(_quote, record.evidence)]
        case Alarm(raised=True):
            return [f"alarm: {record.detail}", *map(_quote, record.evidence[:1])]
        case Alarm():
            return [f"over: {record.detail}"]
    return []


def _quote(line: Evidence) -> str:
    return f"{line.line:>8} | {line.text}"


def _progress(metric: JobMetric, expected: Estimate | None) -> str:
    parts = [_clock(metric.time)]
    if metric.step is not None:
        parts.append(f"step {metric.step}")
    if metric.loss is not None:
        parts.append(f"loss {metric.loss:g}")
    if metric.step_time_s is not None:
        parts.append(f"{seconds(metric.step_time_s)} a step")
    if metric.throughput is not None:
        parts.append(f"{rate(metric.throughput)} {metric.throughput_unit or ''}".strip())
    if expected is not None and expected.remaining_s is not None:
        since, high = metric.time - expected.time, expected.remaining_high_s
        low = (expected.remaining_low_s or 0.0) - since
        parts.append(remains(expected.remaining_s - since, low, None if high is None else high - since) + " left")
    return "  ".join(parts)


def _with_time(moment: float, lines: Sequence[str]) -> Iterator[str]:
    yield f"{_clock(moment)}  {lines[0]}"
    yield from (f"{'':>8} {line}" for line in lines[1:])


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))
