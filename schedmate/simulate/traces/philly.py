"""Philly (Jeon et al., ATC 2019) as a table: time, duration, GPUs and virtual cluster."""

from ..job import Job
from ..reading import Row

COLUMNS = ("timestamp", "duration", "num_gpus", "cluster")


def job_of(row: Row, number: int) -> Job:
    """Return the job of a row. Jobs have no id, so that the row's number makes one.

    Raises:
        TraceError: A value is missing or not a number.
    """
    return Job(
        job_id=f"philly-{number}",
        submit_s=row.moment("timestamp"),
        duration_s=row.number("duration", -1),
        gpus=row.gpus("num_gpus"),
        partition=row.text("cluster"),
    )
