"""Lines a second of the processors alone, on one core: cold, warm, and beside decoding the same chunks and doing nothing."""

import time
from collections.abc import Callable

import msgspec

from benchmarks.lines import CHUNK, chunks
from processors.job import JobProcessor
from processors.state import JobState
from schedmate.assembly import job_processor
from schedmate.settings.settings import Settings
from schedmate_records import LogChunk, Position, decode, encode

JOBS, CHUNKS = 8, 60


def measure() -> list[tuple[str, str]]:
    """Return (what, figure) rows."""
    jobs = {f"job-{index}": list(chunks(f"job-{index}", CHUNKS)) for index in range(JOBS)}
    encoded = [encode(chunk) for made in jobs.values() for chunk in made]
    total = JOBS * CHUNKS * CHUNK
    size = sum(len(line) for made in jobs.values() for chunk in made for line in chunk.lines) / total
    processor = job_processor(Settings().processors)
    cold = _seconds(lambda: _run(processor, jobs), times=1)
    warm = _seconds(lambda: _run(processor, jobs), times=3)
    decoding = _seconds(lambda: [decode(LogChunk, value) for value in encoded], times=3)
    state = JobState(job="job-0")
    for offset, chunk in enumerate(jobs["job-0"]):
        processor.process(state, Position("job-logs", 0, offset), chunk)
    return [
        ("lines measured", f"{total:,} of {size:.0f} characters, {JOBS} jobs, chunks of {CHUNK}"),
        ("decoding the chunks, nothing else", f"{total / decoding:,.0f} lines/s"),
        ("processors, cold (no template known)", f"{total / cold:,.0f} lines/s"),
        ("processors, warm", f"{total / warm:,.0f} lines/s"),
        ("state of one job", f"{len(msgspec.json.encode(state)):,} bytes"),
    ]


def _run(processor: JobProcessor, jobs: dict[str, list[LogChunk]]) -> None:
    for job, made in jobs.items():
        state = JobState(job=job)
        for offset, chunk in enumerate(made):
            processor.process(state, Position("job-logs", 0, offset), chunk)


def _seconds(action: Callable[[], object], times: int) -> float:
    """Return the least processor time of several: others on the machine lengthen it little."""
    found = []
    for _ in range(times):
        began = time.process_time()
        action()
        found.append(time.process_time() - began)
    return min(found)
