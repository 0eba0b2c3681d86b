"""Whether the model, data set and batch of a job improve a prediction: `python -m benchmarks.lasched metadata DIR` (Venus, September).

No public trace has both durations and source trees. The authors of Lucid assigned a model, a data set and a batch to each of these jobs,
so a gain could be an artefact of that assignment.
"""

import csv
import gzip
import math
from collections import defaultdict, deque
from collections.abc import Callable, Hashable
from pathlib import Path

import numpy as np

from processors.advise.predictors.dataset import Vector, replay
from processors.advise.predictors.job import Completion, Submission

from .baselines import LAST
from .traces import venus

WARM_UP = 0.25
"""Share of the jobs, the oldest, that only fill the histories."""

Keys = Callable[[Submission], list[Hashable]]


def predict(folder: Path) -> tuple[list[Completion], dict[str, Vector]]:
    """Return the jobs after the warm-up, and the median of the last five jobs with the same key, in seconds, by key."""
    file = folder / venus.SEPTEMBER
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        about = {
            row["job_id"]: (row["lucid_model"], row["lucid_dataset"], row["lucid_batchsize"])
            for row in csv.DictReader(lines)
        }
    jobs = sorted(venus.read(file), key=lambda done: done.job.submitted)
    kinds: dict[str, Keys] = {
        "user": lambda job: [job.user],
        "user and GPUs": lambda job: [(job.user, job.gpus), job.user],
        "user, GPUs and metadata": lambda job: [
            (job.user, job.gpus, about[job.job_id]),
            (job.user, job.gpus),
            job.user,
        ],
        "metadata": lambda job: [about[job.job_id]],
    }
    first = int(WARM_UP * len(jobs))
    return jobs[first:], {name: np.expm1(_medians(jobs, keys)[first:]) for name, keys in kinds.items()}


def _medians(jobs: list[Completion], keys: Keys) -> Vector:
    past: defaultdict[Hashable, deque[float]] = defaultdict(lambda: deque(maxlen=LAST))
    otherwise = float(np.median([math.log1p(done.duration_s) for done in jobs]))
    found = []
    for event in replay(jobs):
        if isinstance(event, Submission):
            known = next((past[key] for key in keys(event) if past[key]), None)
            found.append(float(np.median(known)) if known else otherwise)
        else:
            for key in keys(event.job):
                past[key].append(math.log1p(event.duration_s))
    return np.array(found)
