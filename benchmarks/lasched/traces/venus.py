"""Helios, cluster Venus (SC'21): jobs of 15 virtual clusters with user and state, in `helios-venus/`.

The trace has no start times, so a job's end is taken as its submission plus its duration: waiting is not in it.
"""

import csv
import gzip
from pathlib import Path

from processors.advise.predictors.job import Completion, Submission

EPOCH = 1_585_699_200.0 - 8 * 3600
"""1 April 2020, 00:00 in China, from which `submit_s` counts."""
UTC_OFFSET_S = 8 * 3600.0
SPRING, SEPTEMBER = "venus_2020-04_07_10vcs.csv.gz", "venus_2020-09_all_vcs.csv.gz"


def read(file: Path) -> list[Completion]:
    """Return the jobs of a file."""
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        return [_job(row) for row in csv.DictReader(lines)]


def _job(row: dict[str, str]) -> Completion:
    submitted, duration = float(row["submit_s"]), float(row["duration"])
    job = Submission(
        job_id=row["job_id"],
        submitted=EPOCH + submitted,
        user=row["user"],
        queue=row["vc"],
        gpus=float(row["gpu_num"]),
        cpus=float(row["cpu_num"]),
    )
    return Completion(
        job=job, ended=EPOCH + submitted + duration, duration_s=duration, failed=row["state"] != "COMPLETED"
    )
