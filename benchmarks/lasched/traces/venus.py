"""Helios, cluster Venus (SC'21): jobs of 15 virtual clusters with user and state, in `helios-venus/`.

The trace has no start times, so a job's end is taken as its submission plus its duration: waiting is not in it. For September the
folder also has the starts that a published simulator gave under FIFO, which waits longer than the cluster did.
"""

import csv
import gzip
from pathlib import Path

from processors.advise.predictors.job import Completion, Submission

EPOCH = 1_585_699_200.0 - 8 * 3600
"""1 April 2020, 00:00 in China, from which `submit_s` counts."""
UTC_OFFSET_S = 8 * 3600.0
SPRING, SEPTEMBER = "venus_2020-04_07_10vcs.csv.gz", "venus_2020-09_all_vcs.csv.gz"
OUTCOMES = "venus_2020-09_reference_outcomes_fifo_sjf_srtf.csv.gz"


def read(file: Path, starts: dict[str, float] | None = None) -> list[Completion]:
    """Return the jobs of a file; `starts` (job id to seconds since 1 April) delay their ends."""
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        return [_job(row, starts or {}) for row in csv.DictReader(lines)]


def fifo_starts(folder: Path) -> dict[str, float]:
    """Return when each job of September started in the published simulation of FIFO, in seconds since 1 April."""
    with gzip.open(folder / OUTCOMES, "rt", encoding="utf-8", newline="") as lines:
        return {row["job_id"]: float(row["start_s"]) for row in csv.DictReader(lines) if row["scheduler"] == "fifo"}


def _job(row: dict[str, str], starts: dict[str, float]) -> Completion:
    submitted, duration = float(row["submit_s"]), float(row["duration"])
    job = Submission(
        job_id=row["job_id"],
        submitted=EPOCH + submitted,
        user=row["user"],
        queue=row["vc"],
        gpus=float(row["gpu_num"]),
        cpus=float(row["cpu_num"]),
    )
    start = starts.get(row["job_id"], submitted)
    return Completion(job=job, ended=EPOCH + start + duration, duration_s=duration, failed=row["state"] != "COMPLETED")
