"""A synthetic workload of high-priority and spot jobs, in the shape of GFS's Table 3.

Nothing of it was measured: it is drawn. What it is drawn from is published: sizes and gangs are the shares of Table 3 (GFS, section
4.1); arrivals by hour and weekday, the burstiness of arrivals, organisations and durations follow summary statistics of Alibaba's 2026
GPU spot trace (184 days, 466,867 jobs,
84 organisations).
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from ..job import Job, JobClass

DAY = 86_400
"""Seconds of a day."""
Random = np.random.Generator


class ClassShape(msgspec.Struct, frozen=True):
    """Distributions of the jobs of one class.

    Attributes:
        per_day: Jobs a day.
        gpus: GPUs of a pod.
        gpu_shares: Share of the jobs for each, in per cent (Table 3).
        gang: Share of the jobs that are gangs.
        median_s: Median duration.
        p90_s: 90th percentile of durations; between them they give a log-normal distribution.
        longest_s: Durations are cut there.
    """

    per_day: float
    gpus: tuple[float, ...]
    gpu_shares: tuple[float, ...]
    gang: float
    median_s: float
    p90_s: float
    longest_s: float


HP = ClassShape(
    per_day=138_403 / 91,
    gpus=(0.5, 1, 2, 4, 8),
    gpu_shares=(0.11, 55.11, 13.37, 7.53, 23.69),
    gang=0.0866,
    median_s=1101,
    p90_s=58_770,
    longest_s=160_000,
)
"""Durations are cut to the mean of GFS's Table 5, about 17,750 s: as in the trace, they would fill the cluster four times."""
SPOT = ClassShape(
    per_day=26_635 / 91,
    gpus=(0.5, 1, 2, 4, 8),
    gpu_shares=(0.82, 67.35, 5.67, 12.00, 14.04),
    gang=0.2726,
    median_s=2095.5,
    p90_s=21_740,
    longest_s=3 * DAY,
)
HOURS = (
    0.9,
    0.8,
    0.7,
    0.67,
    0.65,
    0.7,
    0.7,
    0.75,
    0.8,
    0.85,
    1.25,
    1.3,
    1.0,
    1.0,
    1.3,
    1.3,
    1.4,
    1.3,
    1.0,
    1.1,
    1.1,
    1.0,
    0.95,
    0.9,
)
"""Submissions by hour of the day, over their mean, rounded."""
WEEKDAYS = (0.93, 0.81, 0.89, 1.14, 1.18, 1.12, 0.92)
"""Submissions by day of the week, over their mean, rounded."""
ORGANISATIONS = 84
"""Organisations that submit jobs: 84 in Alibaba's 2026 trace."""
CONCENTRATION = 1.3
"""Of organisations' shares of the jobs: the k-th largest has a share as 1 over k to this power."""
HOURLY_CV = 0.9
"""Standard deviation of the jobs of an hour over their mean."""
LARGEST_GANG = 16
"""Pods of the largest gang: the share of gangs falls with the power 1.5 of their size."""
CHECKPOINTS = (900.0, 1800.0, 3600.0)
"""Spot jobs save after so many seconds of work, each as likely."""


def spot_workload(days: float, seed: int, spot_scale: float = 1.0, cluster_scale: float = 1.0) -> list[Job]:
    """Draw a workload for 287 nodes of 8 GPUs.

    Args:
        days: From Monday 0:00, second 0, on.
        seed: Of the random numbers. High-priority jobs depend on it alone, so that loads can be compared.
        spot_scale: Spot jobs are submitted that many times as often (GFS: 1, 2 and 4).
        cluster_scale: All jobs are submitted that many times as often: for a cluster of so many times 287 nodes.

    Returns:
        Jobs in the order in which they are submitted, with whole seconds.
    """
    streams = np.random.SeedSequence(seed).spawn(2)
    jobs = [
        *_draw(HP, JobClass.HP, days, cluster_scale, np.random.default_rng(streams[0])),
        *_draw(SPOT, JobClass.SPOT, days, cluster_scale * spot_scale, np.random.default_rng(streams[1])),
    ]
    jobs.sort(key=lambda job: (job.submit_s, job.job_id))
    return jobs


def _draw(shape: ClassShape, job_class: JobClass, days: float, scale: float, random: Random) -> list[Job]:
    times, users = _arrivals(shape.per_day * scale, days, random)
    count = len(times)
    sigma = math.log(shape.p90_s / shape.median_s) / 1.2816
    durations = np.minimum(random.lognormal(math.log(shape.median_s), sigma, count), shape.longest_s)
    shares = np.array(shape.gpu_shares)
    gpus = random.choice(np.array(shape.gpus), count, p=shares / shares.sum())
    sizes = np.arange(2, LARGEST_GANG + 1)
    pods = random.choice(sizes, count, p=_falling(sizes, 1.5))
    gangs = (random.random(count) < shape.gang) & (gpus >= 1)
    every = random.choice(np.array(CHECKPOINTS), count)
    prefix = job_class.value
    return [
        Job(
            job_id=f"{prefix}-{number}",
            submit_s=float(times[number]),
            duration_s=float(max(1, round(durations[number]))),
            gpus=float(gpus[number]),
            pods=int(pods[number]) if gangs[number] else 1,
            user=f"org-{users[number]}",
            job_class=job_class,
            checkpoint_every_s=float(every[number]) if job_class is JobClass.SPOT else 0.0,
        )
        for number in range(count)
    ]


def _arrivals(per_day: float, days: float, random: Random) -> "tuple[Sequence[int], Sequence[int]]":
    """Draw submission times and organisations: a Poisson process for each organisation and hour, whose rate is itself drawn (gamma)."""
    hours = np.arange(math.ceil(days * 24))
    rate = per_day / 24 * np.array(HOURS)[hours % 24] * np.array(WEEKDAYS)[(hours // 24) % 7]
    shares = _falling(np.arange(1, ORGANISATIONS + 1), CONCENTRATION)
    spread = 1 / (HOURLY_CV**2 / float((shares**2).sum()))
    mood = random.gamma(spread, 1 / spread, (len(hours), ORGANISATIONS))
    counts = random.poisson(rate[:, None] * shares[None, :] * mood)
    hour, user = np.nonzero(counts)
    repeats = counts[hour, user]
    times = np.repeat(hour, repeats) * 3600 + random.integers(0, 3600, int(repeats.sum()))
    users = np.repeat(user, repeats)
    kept = times < days * DAY
    return times[kept].tolist(), users[kept].tolist()


def _falling(
    sizes: "np.ndarray[tuple[int], np.dtype[np.int64]]", power: float
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    weights = 1.0 / sizes.astype(np.float64) ** power
    shares: np.ndarray[tuple[int], np.dtype[np.float64]] = weights / weights.sum()
    return shares
