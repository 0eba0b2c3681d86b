"""Noise tells no speed, no step and no loss: what looks like a report there looks like no other."""

import pytest

from benchmarks import hostile
from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import JobMetric, Position

KINDS = (
    "random bytes",
    "random bytes as Latin 1",
    "base64",
    "base64 in one line of 10 MB",
    "hex",
    "hexdump -C",
    "xxd",
    "UUIDs",
    "minified JSON",
    "random words",
)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [10, 11, 12])
def test_noise_tells_no_numbers(kind: str, seed: int) -> None:
    processor, state = JobProcessor(), JobState(job=kind)
    made = [
        record
        for offset, chunk in enumerate(hostile.chunks(kind, 4, seed))
        for record in processor.process(state, Position("job-logs", 0, offset), chunk)
    ]
    numbers = [
        (each.step, each.loss, each.step_time_s, each.throughput) for each in made if isinstance(each, JobMetric)
    ]
    assert all(each == (None, None, None, None) for each in numbers), numbers
