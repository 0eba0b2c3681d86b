"""MIT SuperCloud (Samsi et al., HPEC 2021): `slurm-log.csv`, Slurm's table of jobs with resources by number."""

from ..job import Job
from ..reading import Row, TraceError

COLUMNS = ("id_job", "time_submit", "time_start", "time_end")
GPU_RESOURCES = ("1001", "1002")
"""Numbers of the trackable resources `gpu:tesla` and `gpu:volta`."""


def job_of(row: Row, _: int) -> Job:
    """Return the job of a row; its duration is below 0 if it did not start or end.

    Raises:
        TraceError: A value is missing or not a number.
    """
    start, end = row.number("time_start", 0), row.number("time_end", 0)
    return Job(
        job_id=row.text("id_job"),
        submit_s=row.number("time_submit"),
        duration_s=end - start if 0 < start <= end else -1,
        gpus=_gpus(row),
        user=row.text("id_user", ""),
    )


def _gpus(row: Row) -> float:
    """Return the GPUs that were requested, or those that were allocated if the request names none."""
    for column in ("tres_req", "tres_alloc"):
        amounts = dict(part.partition("=")[::2] for part in row.text(column, "").strip('"').split(","))
        try:
            gpus = sum(int(amounts[number]) for number in GPU_RESOURCES if number in amounts)
        except ValueError as error:
            raise TraceError(f"{row.where}: expected whole numbers of GPUs in column {column!r}") from error
        if gpus:
            return gpus
    return 0
