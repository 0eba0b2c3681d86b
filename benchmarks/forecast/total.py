"""Ways to forecast the demand of the whole cluster: 0.9-quantiles of the next hour's demand, and how often demand stays below them.

The demand is that of the synthetic workload of `benchmarks.simulate` at full scale, on a cluster where no job waits. Models learn from 15
days and forecast each hour of the next seven. Organisations can be summed as quantiles (Eq. 9 as printed) or as independent means and
variances (the authors' code); or the total is forecast directly, as `schedmate spot` does. Demand of an hour is its peak or its mean.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from statistics import NormalDist

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.simulate.progress import show_progress
from processors.spot.forecast import Calibrated, DemandHistory, Forecast, Forecaster
from processors.spot.forecast.boosted_trees import BoostedTrees
from processors.spot.forecast.demand import Floats
from schedmate.simulate.job import Job, JobClass
from schedmate.simulate.workloads.spot import spot_workload

P = 0.9
LEARN_H, TEST_H = 15 * 24, 7 * 24
FIRST_SEED = 100
MINUTES = 60


def main() -> None:
    made = argparse.ArgumentParser(prog="python -m benchmarks.forecast.total", description=__doc__)
    made.add_argument("--seeds", type=int, default=3, help="workloads that are drawn (default 3)")
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    seeds = range(FIRST_SEED, FIRST_SEED + made.parse_args().seeds)
    for measured in show_progress((list(measure(seed)) for seed in seeds), "seeds measured", len(seeds)):
        for key, figures in measured:
            found.setdefault(key, []).append(figures)
    table = Table("hourly", "forecast", "0.9-quantile, GPUs", "peaks below it, %", "means below it, %")
    for key, rows in found.items():
        quantile, peaks, means = np.mean(rows, axis=0)
        table.add_row(*key, f"{quantile:,.0f}", f"{100 * peaks:.1f}", f"{100 * means:.1f}")
    Console(width=110).print(table)


def measure(seed: int) -> Iterator[tuple[tuple[str, str], tuple[float, float, float]]]:
    """Yield for each way its mean quantile, and the shares of hours whose peak and whose mean demand is not above it."""
    jobs = spot_workload((LEARN_H + TEST_H) / 24, seed, 0.0)
    peaks, means = hourly_demand(jobs, LEARN_H + TEST_H)
    actual = peaks.total[LEARN_H:], means.total[LEARN_H:]
    for name, demand in (("peak", peaks), ("mean", means)):
        for way, quantile in _ways(demand):
            shares = [float((each <= quantile + 1e-6).mean()) for each in actual]
            yield (name, way), (float(quantile.mean()), shares[0], shares[1])


class Demand:
    """Hourly demand in GPUs.

    Attributes:
        organisations: Organisations x hours.
        total: Of the cluster, by hour. The peak of the cluster is less than the sum of the organisations' peaks.
    """

    def __init__(self, organisations: Floats, total: Floats) -> None:
        self.organisations, self.total = organisations, total


def hourly_demand(jobs: Sequence[Job], hours: int) -> tuple[Demand, Demand]:
    """Return the peak and the mean demand of high-priority jobs that start when they are submitted, to the minute."""
    high = [job for job in jobs if job.job_class is JobClass.HP]
    users = sorted({job.user for job in high})
    row = {user: place for place, user in enumerate(users)}
    changes = np.zeros((len(users), hours * MINUTES + 1))
    for job in high:
        start, end = (min(int(at // 60), hours * MINUTES) for at in (job.submit_s, job.submit_s + job.duration_s))
        changes[row[job.user], start] += job.total_gpus
        changes[row[job.user], end] -= job.total_gpus
    by_minute = np.cumsum(changes, axis=1)[:, :-1].reshape(len(users), hours, MINUTES)
    total = by_minute.sum(axis=0)
    return Demand(by_minute.max(axis=2), total.max(axis=1)), Demand(by_minute.mean(axis=2), total.mean(axis=1))


def _ways(demand: Demand) -> Iterator[tuple[str, Floats]]:
    plain, total = BoostedTrees(), demand.total[None, :]
    yield (
        "sum of the organisations' quantiles",
        _by_hour(plain, demand.organisations, lambda one: one.quantile(P).sum(axis=0)),
    )
    yield "independent organisations", _by_hour(plain, demand.organisations, _independent)
    yield "the total", _by_hour(BoostedTrees(), total, lambda one: one.quantile(P)[0])
    yield "the total, calibrated", _by_hour(Calibrated(BoostedTrees()), total, lambda one: one.quantile(P)[0])


def _independent(forecast: Forecast) -> Floats:
    """Return the quantile of the normal distribution with the sums of means and variances, as the authors' code has it."""
    deviation: Floats = np.sqrt((forecast.deviation**2).sum(axis=0))
    total: Floats = forecast.mean.sum(axis=0) + NormalDist().inv_cdf(P) * deviation
    return total


def _by_hour(forecaster: Forecaster, demand: Floats, quantile: Callable[[Forecast], Floats]) -> Floats:
    """Learn from the first hours, and return the quantile of each later hour."""
    history = DemandHistory(demand, datetime(2024, 1, 1), tuple((f"{row}",) for row in range(len(demand))))
    forecaster.fit(history.first_hours(LEARN_H), 1)
    windows = history.windows(forecaster.length, 1, LEARN_H, LEARN_H + TEST_H)
    rows = [windows.select(np.flatnonzero(windows.made == hour)) for hour in range(LEARN_H, LEARN_H + TEST_H)]
    return np.array([float(quantile(forecaster.forecast(each))[0]) for each in rows])


if __name__ == "__main__":
    main()
