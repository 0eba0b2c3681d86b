"""Microsoft's Philly (ATC'19): time, duration, GPUs and virtual cluster of jobs; no user, no state, no start."""

import csv
import gzip
from datetime import UTC, datetime
from pathlib import Path

from processors.advise.predictors.job import Completion, Submission

FILE = "philly_jobs.csv.gz"
UTC_OFFSET_S = -8 * 3600.0


def read(folder: Path) -> list[Completion]:
    """Return all jobs with a duration; an end is the submission plus the duration."""
    with gzip.open(folder / FILE, "rt", encoding="utf-8", newline="") as lines:
        return [_job(number, row) for number, row in enumerate(csv.DictReader(lines)) if float(row["duration"]) > 0]


def _job(number: int, row: dict[str, str]) -> Completion:
    local = datetime.strptime(row["timestamp"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
    submitted, duration = local - UTC_OFFSET_S, float(row["duration"])
    job = Submission(job_id=str(number), submitted=submitted, queue=row["cluster"], gpus=float(row["num_gpus"]))
    return Completion(job=job, ended=submitted + duration, duration_s=duration)
