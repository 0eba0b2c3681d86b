"""Traces of one's own."""

from ..job import Job, JobClass
from ..reading import Row, TraceError

COLUMNS = ("job_id", "submit_s", "duration_s", "gpus")


def job_of(row: Row, _: int) -> Job:
    """Return the job of a row.

    Raises:
        TraceError: A value is missing or not a number.
    """
    job_class = row.text("class", "hp")
    if job_class not in {"hp", "spot"}:
        raise TraceError(f"{row.where}: expected hp or spot in column 'class', found {job_class[:40]!r}")
    every = row.text("checkpoint_every_s", "0")
    return Job(
        job_id=row.text("job_id"),
        submit_s=row.number("submit_s"),
        duration_s=row.number("duration_s"),
        gpus=row.gpus("gpus"),
        pods=row.whole_number("pods", 100_000) if row.has("pods") else 1,
        partition=row.text("partition", ""),
        user=row.text("user", ""),
        gpu_type=row.text("gpu_type", ""),
        job_class=JobClass(job_class),
        estimate_s=row.number("estimate_s") if row.has("estimate_s") else None,
        checkpoint_every_s=float("inf") if every == "inf" else row.number("checkpoint_every_s", 0.0),
    )
