"""The jobs of Alibaba's PAI trace for the history: what they asked for, how long they ran, how busy their GPUs were.

The tables hold no command lines and no directories, so these jobs are no one's earlier runs and similar to none.
A predictor learns from them.
"""

from collections.abc import Iterator
from pathlib import Path

from processors.advise.past import PastJob, SubmittedJob
from processors.advise.predictors.job import Completion
from schedmate_records import UserError

from .pai import READ, SENSORS, Advance, gpu_utilisation, read


def size(folder: Path) -> int:
    """Return how many bytes will be read of `folder`; files that are not there count nothing."""
    tables = (*READ, READ[0], SENSORS) if has_sensors(folder) else READ
    files = [folder / f"{table}.csv" for table in tables]
    return sum(file.stat().st_size for file in files if file.is_file())


def has_sensors(folder: Path) -> bool:
    """Whether the table of utilisation is there; the largest but one, it may be left out."""
    return (folder / f"{SENSORS}.csv").is_file()


def past_jobs(folder: Path, began: float, advance: Advance) -> Iterator[tuple[str, PastJob]]:
    """Yield the jobs that terminated, each with a name of its own.

    Args:
        folder: Holds the tables.
        began: When the trace began, in seconds since 1970: its times count from there.
        advance: Called with the number of characters that were read.

    Raises:
        UserError: A table is not there, or is none.
    """
    try:
        used = gpu_utilisation(folder, advance) if has_sensors(folder) else {}
        jobs = read(folder, advance)
    except (OSError, ValueError) as error:
        raise UserError(f"expected PAI's tables as CSV with their .header files in {folder}: {error}") from error
    for done in jobs:
        yield f"pai/{done.job.job_id}", _past_job(done, began, used.get(done.job.job_id))


def _past_job(done: Completion, began: float, used: float | None) -> PastJob:
    job = done.job
    about = SubmittedJob(
        job=job.job_id,
        user=job.user,
        submitted=began + job.submitted,
        name=job.group,
        gpus=job.gpus,
        cpus=job.cpus,
        memory_gib=job.memory_gib,
        nodes=job.instances,
    )
    return PastJob(about=about, ended=began + done.ended, duration_s=done.duration_s, gpu_utilisation=used)
