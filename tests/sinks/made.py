"""Records as the processors would make them."""

from collections.abc import Iterable
from typing import Any

from schedmate_records import Evidence, JobMetric, Position, Record, derived_id

T0 = 1_790_000_040.0
"""The beginning of a minute."""

Row = tuple[Position, Record]


def line(number: int = 1, offset: int = 0, text: str = "loss 2.31") -> Evidence:
    return Evidence(topic="job-logs", partition=0, offset=offset, line=number, text=text, rank=0)


def metric(step: int, job: str = "4711", *, offset: int | None = None, partition: int = 0, **fields: Any) -> Row:
    """The report of `step`, printed two a second, as it stands at `offset` of the topic."""
    offset = step if offset is None else offset
    source = Position("job-logs", 0, step)
    made = {
        "time": T0 + step * 0.5,
        "step_time_s": 0.5,
        "throughput": 64.0 + step % 3,
        "throughput_unit": "samples/s",
        "method": "stated",
        "confidence": 0.9,
        "evidence": [line(step, step)],
        **fields,
    }
    record = JobMetric(id=derived_id("job-metric", job, source, 1), job=job, step=step, **made)
    return Position("job-metrics", partition, offset), record


def cut(rows: list[Row], size: int) -> Iterable[list[Row]]:
    """The rows in batches of `size`."""
    return (rows[start : start + size] for start in range(0, len(rows), size))
