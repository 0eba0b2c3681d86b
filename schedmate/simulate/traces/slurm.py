"""Slurm's accounting: what `COMMAND` prints, the same file that `schedmate import sacct` and `schedmate advise train` read."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from processors.advise.predictors.sacct import COMMAND, Accounting, NotAccounting, read_sacct

from ..job import Job
from ..reading import TraceError, opened

__all__ = ["COMMAND", "jobs", "read"]


def read(file: Path) -> Accounting:
    """Return the jobs that ran and ended, with counts of the others and of rows that could not be read.

    Raises:
        TraceError: The file cannot be read, or its first line does not name the columns that are needed.
    """
    try:
        with opened(file) as lines:
            return read_sacct(lines)
    except NotAccounting as error:
        raise TraceError(f"{file.name}: {error}") from error


def jobs(found: Accounting) -> Iterator[Job]:
    """Yield the jobs. An id that Slurm used more than once is followed by `@` and the submission time."""
    names = [each.job.job_id.rpartition("@")[0] for each in found.jobs]
    uses = Counter(names)
    for name, each in zip(names, found.jobs, strict=True):
        asked = each.job
        yield Job(
            job_id=name if uses[name] == 1 else asked.job_id,
            submit_s=asked.submitted,
            duration_s=each.duration_s,
            gpus=asked.gpus,
            partition=asked.queue,
            user=asked.user,
        )
