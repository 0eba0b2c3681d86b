"""Acme (Hu et al., NSDI 2024): `trace_seren.csv` and `trace_kalos.csv`. Each cluster is one partition."""

from ..job import Job
from ..reading import Row

COLUMNS = ("job_id", "node_num", "gpu_num", "submit_time", "duration")


def job_of(row: Row, _: int) -> Job:
    """Return the job of a row; its duration is below 0 if it never started.

    Raises:
        TraceError: A value is missing or not a number.
    """
    started = row.has("start_time") or "start_time" not in row.fields
    return Job(
        job_id=row.text("job_id"),
        submit_s=row.moment("submit_time"),
        duration_s=row.number("duration", -1) if started else -1,
        gpus=row.gpus("gpu_num", 0.0),
        user=row.text("user", ""),
    )
