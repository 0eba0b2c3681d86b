"""The features of a submission (ATLAS, section 3.1): resources, time, causal histories and train-only encodings."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import UTC, datetime

import msgspec
import numpy as np

from .history import NAN, STATISTICS, History
from .job import Completion, Submission

CATEGORIES = ("user", "queue", "group", "workload", "gpu_type")
MINIMUM = 5
"""Jobs that a text needs in training to get a code of its own: rarer ones would be learned by heart."""
AMOUNTS = ("gpus", "cpus", "memory_gib", "instances", "tasks")
KEYS = ("queue", "user", "user_gpus", "group", "signature")
"""The histories. A signature is user, group, workload, queue and the decile of each resource (ATLAS, section 3.1)."""

RESOURCES = (
    *(f"log_{name}" for name in AMOUNTS), "log_time_limit", "cpus_per_gpu", "memory_per_gpu", "gpus_per_instance",
    "cpus_per_instance", "memory_per_instance", "tasks_per_instance", "distributed", "scale",
)  # fmt: skip
TEMPORAL = ("hour_sin", "hour_cos", "week_sin", "week_cos", "weekday", "weekend")
NAMES = (
    *RESOURCES, *TEMPORAL, *(f"{key}_{name}" for key in KEYS for name in STATISTICS), *(f"{name}_code" for name in CATEGORIES),
)  # fmt: skip
"""The names of a row's columns, in order."""
PLAIN = (*RESOURCES, *TEMPORAL, *(f"{name}_code" for name in CATEGORIES))
"""Those that need no history."""


class Encoders(msgspec.Struct, frozen=True):
    """Encodings that the training jobs define: codes of texts, deciles of resources, the mean of y. Later jobs do not change them."""

    codes: dict[str, dict[str, int]]
    """A code for each text of each category; the commoner the smaller. Unseen and rare texts are -1."""
    deciles: dict[str, list[float]]
    prior: float
    utc_offset_s: float = 0.0
    """Local time less UTC: people work by the clock on the wall."""

    @classmethod
    def fit(cls, jobs: Sequence[Completion], utc_offset_s: float = 0.0) -> "Encoders":
        """Fit on training jobs.

        Raises:
            ValueError: there is no job.
        """
        if not jobs:
            raise ValueError("expected at least one job to fit encoders on; got none")
        counts = {name: Counter(getattr(done.job, name) for done in jobs) for name in CATEGORIES}
        codes = {
            name: {text: code for code, (text, n) in enumerate(count.most_common()) if text and n >= MINIMUM}
            for name, count in counts.items()
        }
        shares = np.arange(1, 10) / 10
        deciles = {
            name: np.quantile([getattr(done.job, name) for done in jobs], shares, method="lower").tolist()
            for name in AMOUNTS
        }
        return cls(codes, deciles, float(np.mean([math.log1p(done.duration_s) for done in jobs])), utc_offset_s)

    def keys(self, job: Submission) -> tuple[Hashable, ...]:
        """Return the job's key in each history of `KEYS`."""
        buckets = tuple(bisect_right(self.deciles[name], getattr(job, name)) for name in AMOUNTS)
        return (
            ("queue", job.queue),
            ("user", job.user),
            ("user_gpus", job.user, job.gpus),
            ("group", job.group or job.user, job.group and job.gpus),
            ("signature", job.user, job.group, job.workload, job.queue, *buckets),
        )

    def row(self, job: Submission, history: History) -> list[float]:
        """Return the features of `NAMES`; NaN where there is none."""
        return [
            *_resources(job),
            *_temporal(job.submitted + self.utc_offset_s),
            *history.statistics(job.submitted, self.keys(job)),
            *(float(self.codes[name].get(getattr(job, name), -1)) for name in CATEGORIES),
        ]


def _resources(job: Submission) -> Iterable[float]:
    yield from (math.log1p(max(0.0, getattr(job, name))) for name in AMOUNTS)
    yield math.log1p(job.time_limit_s) if job.time_limit_s > 0 else NAN
    instances = max(1, job.instances)
    yield job.cpus / job.gpus if job.gpus > 0 else NAN
    yield job.memory_gib / job.gpus if job.gpus > 0 else NAN
    yield job.gpus / instances
    yield job.cpus / instances
    yield job.memory_gib / instances
    yield job.tasks / instances
    yield float(instances > 1 or job.gpus > 1)
    # The sizes of ATLAS, Table 1: none, one, several on a machine, a cluster.
    yield float(bisect_right((1e-9, 1.0 + 1e-9, 8.0 + 1e-9), job.gpus))


def _temporal(local: float) -> Iterable[float]:
    clock = datetime.fromtimestamp(local, UTC)
    hours = clock.hour + clock.minute / 60
    day, week = math.tau * hours / 24, math.tau * (24 * clock.weekday() + hours) / 168
    yield from (
        math.sin(day),
        math.cos(day),
        math.sin(week),
        math.cos(week),
        float(clock.weekday()),
        float(clock.weekday() >= 5),
    )
