"""The demand that high-priority jobs will not exceed, from what is known so far (the GPU demand estimator of GFS, section 3.2)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Protocol

import numpy as np

from .forecast import Calibrated, DemandHistory, Forecaster
from .forecast.baselines import Naive
from .forecast.demand import Floats
from .settings import CLUSTER, HOUR


def _boosted_trees() -> Forecaster:
    """Return calibrated boosted trees. LightGBM is an optional dependency, so that it is imported only here."""
    from .forecast.boosted_trees import BoostedTrees  # noqa: PLC0415

    return Calibrated(BoostedTrees())


LEARN_EVERY_H = 24
"""Hours between two fits of the forecaster: more frequent fits follow changes sooner, and take more time."""
STEPS: tuple[tuple[int, Callable[[], Forecaster]], ...] = (
    (14 * 24, _boosted_trees),
    (6, lambda: Calibrated(Naive("last_value", length=1))),
)
"""The forecaster for each number of known hours, the largest number first. With fewer hours, demand is assumed not to change. With less
than two weeks, a model memorises bursts, and its intervals are wider than those of the last value."""


@dataclass(frozen=True)
class DemandForecast:
    """The demand of high-priority jobs in the next hours.

    Attributes:
        forecaster: Who forecasts; `present` where nothing can be forecast yet, and demand is taken to stay as it is.
        hours: Hours of history that it rests on.
        organisations: Their names, in the order of the rows below; none for the forecaster `present`, which has one row for all.
        median: In GPUs, organisations x horizon.
        upper: Quantile of each organisation's demand at the requested probability, in GPUs, organisations x horizon.
        total: The same quantile of the sum of all organisations' demand, in GPUs, one value for each hour of the horizon.
    """

    forecaster: str
    hours: int
    organisations: tuple[str, ...]
    median: Floats
    upper: Floats
    total: Floats


class Estimator(Protocol):
    """Forecasts demand."""

    def forecast(
        self, demand: Mapping[str, Sequence[float]], present: float, now: float, p: float, horizon: int
    ) -> DemandForecast:
        """Return the demand to expect, and what is not exceeded with probability `p`. See `DemandEstimator.forecast`."""


class DemandEstimator:
    """Learns once a day, each hour where little is known yet, and forecasts once an hour.

    Args:
        start: The date and hour of second 0, in the time zone whose hours people work by.
        steps: Hours of history and who forecasts from there on, the most first.
        learn_every_h: Hours between two times of learning, once two days are known.
        holidays: Days that are like no weekday.
    """

    def __init__(
        self,
        start: datetime,
        steps: Sequence[tuple[int, Callable[[], Forecaster]]] = STEPS,
        learn_every_h: int = LEARN_EVERY_H,
        holidays: Collection[date] = (),
    ) -> None:
        self._start = start
        self._steps = steps
        self._learn_every_h = learn_every_h
        self._holidays = frozenset(holidays)
        self._forecaster: Forecaster | None = None
        self._cluster: Forecaster | None = None
        self._organisations: tuple[str, ...] = ()
        self._needed = 0
        self._learn_at = 0
        self._latest: tuple[int, float, int, DemandForecast | None] | None = None

    def forecast(
        self, demand: Mapping[str, Sequence[float]], present: float, now: float, p: float, horizon: int
    ) -> DemandForecast:
        """Return the demand to expect, and what is not exceeded with probability `p`.

        Args:
            demand: By organisation, the GPUs that its jobs had or waited for at most in each past hour, oldest first, as
                many hours for each. The key `CLUSTER` has the same of all jobs together.
            present: GPUs that high-priority jobs have now: what is assumed where nothing can be forecast yet.
            now: Seconds since second 0.
            p: Probability.
            horizon: Hours, the present one first.
        """
        hour = int(now // HOUR)
        if self._latest is None or self._latest[:3] != (hour, p, horizon):
            self._latest = hour, p, horizon, self._forecast(demand, hour, p, horizon)
        if (found := self._latest[3]) is not None:
            return found
        level = np.full((1, horizon), present)
        hours = min((len(each) for each in demand.values()), default=0)
        return DemandForecast("present", hours, (), level, level, level[0])

    def _forecast(
        self, demand: Mapping[str, Sequence[float]], hour: int, p: float, horizon: int
    ) -> DemandForecast | None:
        hours = min((len(each) for each in demand.values()), default=0)
        step = next(
            (step for step in self._steps if hours >= max(step[0], step[1]().length + 2 * horizon)),
            None,
        )
        if step is None:
            return None
        new = set(demand) - {CLUSTER, *self._organisations}
        if self._forecaster is None or step[0] != self._needed or hour >= self._learn_at:
            self._learn(demand, hours, hour, step, horizon)
            new = set()
        forecaster, cluster = self._forecaster, self._cluster
        assert forecaster is not None
        assert cluster is not None
        history = self._history(demand, self._organisations, hours, hour)
        found = forecaster.forecast(history.next_window(forecaster.length, horizon))
        history = self._history(_with_cluster(demand), (CLUSTER,), hours, hour)
        total = cluster.forecast(history.next_window(cluster.length, horizon)).quantile(p)
        # An organisation that nothing was learnt of is taken to want its peak again.
        peaks = [np.full((1, horizon), max(demand[each])) for each in sorted(new)]
        return DemandForecast(
            forecaster.name,
            hours,
            (*self._organisations, *sorted(new)),
            np.vstack([found.quantile(0.5), *peaks]),
            np.vstack([found.quantile(p), *peaks]),
            total[0],
        )

    def _learn(
        self,
        demand: Mapping[str, Sequence[float]],
        hours: int,
        hour: int,
        step: tuple[int, Callable[[], Forecaster]],
        horizon: int,
    ) -> None:
        self._needed, make = step
        self._learn_at = hour + (self._learn_every_h if hours >= 2 * LEARN_EVERY_H else 1)
        self._organisations = tuple(sorted(set(demand) - {CLUSTER}))
        self._forecaster, self._cluster = make(), make()
        self._forecaster.fit(self._history(demand, self._organisations, hours, hour), horizon)
        self._cluster.fit(self._history(_with_cluster(demand), (CLUSTER,), hours, hour), horizon)

    def _history(
        self, demand: Mapping[str, Sequence[float]], names: Sequence[str], hours: int, hour: int
    ) -> DemandHistory:
        return DemandHistory(
            np.array([demand[each][-hours:] for each in names], dtype=np.float64),
            self._start + timedelta(hours=hour - hours),
            tuple((each,) for each in names),
            self._holidays,
        )


def _with_cluster(demand: Mapping[str, Sequence[float]]) -> Mapping[str, Sequence[float]]:
    """Return the demand with that of the cluster; where it is not known, the sum of the organisations' peaks replaces it."""
    return demand if CLUSTER in demand else {CLUSTER: np.sum(list(demand.values()), axis=0).tolist()}
