"""Results of jobs, a row each, and the figures of a policy."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from schedmate_records import UserError, csv_cell, in_words

from .job import Job, JobClass, Run
from .replay import Replayed

COLUMNS = ("job_id", "start_s", "end_s", "evictions")


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one policy for one class of jobs, times in seconds. Jobs that never ended are counted, and not part of any mean.

    Attributes:
        policy: Its name.
        job_class: hp or spot.
        jobs: How many.
        unfinished: How many never ended.
        jct_mean_s: Mean completion time: end less submission.
        jct_p50_s: Its median.
        jct_p99_s: Its 99th percentile.
        queue_mean_s: Mean waiting time, all waits of a job together.
        evictions: Times that a job was preempted or evicted.
        eviction_rate: Evictions of each start (GFS, section 4.2).
        lost_gpu_s: GPU seconds of work lost to evictions and faults.
        gpu_use: GPU seconds of work, of those that there were until the last job ended.
    """

    policy: str
    job_class: str
    jobs: int
    unfinished: int
    jct_mean_s: float
    jct_p50_s: float
    jct_p99_s: float
    queue_mean_s: float
    evictions: int
    eviction_rate: float
    lost_gpu_s: float
    gpu_use: float


def summaries(policy: str, replayed: Replayed) -> list[Summary]:
    """Return the figures of each class of jobs that there is."""
    return [
        _summary(policy, job_class, runs, replayed)
        for job_class in JobClass
        if (runs := [run for run in replayed.runs if run.job.job_class is job_class])
    ]


def completion_times(runs: Iterable[Run]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return the completion times of the jobs that ended, sorted."""
    return np.sort(np.array([run.ended - run.job.submit_s for run in runs if run.ended is not None], dtype=np.float64))


def write_outcomes(file: Path, runs: Sequence[Run], without_gpus: Sequence[Job] = ()) -> None:
    """Write `job_id,start_s,end_s,evictions` of every job in the order of the trace; times that do not exist are empty.

    Args:
        file: CSV.
        runs: The jobs that were simulated.
        without_gpus: Jobs that were not, as they use no GPU. They have a row without times after the others.

    Raises:
        UserError: The file cannot be written.
    """
    rows = [(run.job.job_id, _second(run.first_start), _second(run.ended), run.evictions) for run in runs]
    rows += [(job.job_id, "", "", 0) for job in without_gpus]
    write_table(file, COLUMNS, rows)


def write_table(file: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file.

    Raises:
        UserError: It cannot be written.
    """
    try:
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            for row in (columns, *rows):
                writer.writerow([csv_cell(value) for value in row])
    except OSError as error:
        raise UserError(f"expected to write {file}: {in_words(error)}") from error


def _summary(policy: str, job_class: JobClass, runs: list[Run], replayed: Replayed) -> Summary:
    times = completion_times(runs)
    ended = [run for run in runs if run.ended is not None]
    starts = sum(run.runs for run in runs)
    evictions = sum(run.evictions for run in runs)
    first = min((run.job.submit_s for run in replayed.runs), default=0.0)
    last = max((run.ended for run in replayed.runs if run.ended is not None), default=first)
    work = sum(run.job.duration_s * run.job.total_gpus for run in ended)
    return Summary(
        policy=policy,
        job_class=job_class.value,
        jobs=len(runs),
        unfinished=len(runs) - len(ended),
        jct_mean_s=float(times.mean()) if len(times) else 0.0,
        jct_p50_s=float(np.percentile(times, 50)) if len(times) else 0.0,
        jct_p99_s=float(np.percentile(times, 99)) if len(times) else 0.0,
        queue_mean_s=sum(run.queued for run in ended) / len(ended) if ended else 0.0,
        evictions=evictions,
        eviction_rate=evictions / starts if starts else 0.0,
        lost_gpu_s=sum(run.lost * run.job.total_gpus for run in runs),
        gpu_use=work / (replayed.gpus * (last - first)) if last > first else 0.0,
    )


def _second(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if value == int(value) else f"{value:.3f}"
