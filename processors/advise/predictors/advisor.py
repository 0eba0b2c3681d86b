"""The advisor's default: repeat one of the last jobs where that is likelier to be right, else trust boosted trees.

1. `closeness`: trees give the probability that each candidate (`similar.py`) is within 25 % of the job's duration. The candidate that the
   others support most, the mode of their weighted density, is the *repeat*. The probabilities of training rows come from models
   that were fitted on other weeks.
2. Trees on all features and on the candidates' summary predict how far y is from the repeat: its median and pairs of quantiles
   with 90 % between them. The narrowest pair is the interval. A difference stays meaningful when durations drift.
3. A gate gives the probability that the repeat is within 25 %. From `TRUST` upwards the estimate is the repeat, below it the trees'
   median. Repeats are often exact and sometimes far off; medians are seldom either.

Where nothing is known of user, group and queue there is no repeat, and the trees answer.
"""

import math

import lightgbm
import msgspec
import numpy as np
from numpy.typing import NDArray

from .boosting import apply, fit_booster
from .dataset import Dataset, Matrix, Vector
from .features import NAMES
from .intervals import MISSES, AdaptiveMargins
from .similar import CLOSE, SUMMARY, CandidateTable, summarise, weights_of

FEWEST = 20
"""Training rows without which nothing can be fitted."""
BLOCKS = 2
"""Blocks of time for the probabilities of training rows."""
NEWEST = 0.2
"""Share of the training rows, the newest, that fits the margins."""
PAIRS = 300_000
"""Candidates that `closeness` is fitted on, evenly picked: more changed nothing."""
TRUST = 0.06
"""Chosen on the newest fifth of Venus's jobs of April to July: the most that costs nothing within 25 % and 50 %."""
LOW_SHARES = (0.02, MISSES / 2, 0.08)
"""Shares of jobs below the interval, of `MISSES` outside. Jobs that end at once make one pair narrow, jobs without an end another."""
BOUNDS = {f"{side}_{share:g}": share + up for share in LOW_SHARES for side, up in (("low", 0.0), ("high", 1 - MISSES))}
BOOSTERS = ("closeness", "gate", "median", *BOUNDS)
_CODES = [number for number, name in enumerate(NAMES) if name.endswith("_code")]
_USED = [number for number in range(len(NAMES)) if number not in _CODES]
"""No codes of users and queues: what is learned of a name is wrong some months later, and the histories know it better."""
_DURATIONS = [
    number
    for number, name in enumerate(NAMES)
    if name.endswith(("_mean", "_ewma", "_last", "_quartile", "_median", "_youngest", "_oldest"))
]


class Quantiles(msgspec.Struct, frozen=True):
    """Predicted y of rows, each of shape (rows,)."""

    median: Vector
    low: Vector
    high: Vector
    low_share: Vector
    """Share of jobs that is meant to be below `low`."""
    repeated: NDArray[np.bool_]
    """Whether the median is that of the candidates."""


class AdvisorModel:
    """The boosters and what goes between them."""

    def __init__(self, prior: float, boosters: dict[str, lightgbm.Booster]) -> None:
        self.prior = prior
        """The repeat of a job without candidates, in y."""
        self.boosters = boosters

    @classmethod
    def fit(cls, train: Dataset, candidates: CandidateTable) -> "tuple[AdvisorModel, AdaptiveMargins]":
        """Fit on rows in the order of time, and give the margins to start with.

        Raises:
            ValueError: there are fewer than 20 rows, or nothing had ended before any of them.
        """
        if len(train) < FEWEST or not len(candidates.y):
            raise ValueError(
                f"expected at least {FEWEST} jobs to learn from, some ended before others came; got {len(train)}"
            )
        summary, closeness = _cross_fitted(train, candidates)
        model = cls(float(np.median(train.y)), {"closeness": closeness})
        x, base = model._inputs(train.x, summary)
        cut = int(len(train) * (1 - NEWEST))
        early, late = slice(0, cut), slice(cut, None)
        residual = train.y - base
        hit = (np.abs(residual) < CLOSE).astype(np.float64)
        model.boosters["gate"] = fit_booster((x, hit), rounds=150, objective="binary", num_leaves=15)
        model.boosters |= _quantile_trees(x[early], residual[early], BOUNDS)
        margins = AdaptiveMargins()
        low, high, _ = model._interval(x[late], base[late])
        margins.calibrate((done.job for done in train.jobs[cut:]), low - train.y[late], train.y[late] - high)
        model.boosters |= _quantile_trees(x, residual, BOUNDS)
        model.boosters["median"] = fit_booster((x, residual), rounds=150, objective="regression_l1")
        return model, margins

    def predict(self, x: Matrix, candidates: CandidateTable) -> Quantiles:
        """Return the quantiles of many rows.

        Args:
            x: features, shape (rows, len(NAMES)).
            candidates: those of the same rows.
        """
        inputs, base = self._inputs(x, self._summaries(candidates, self.closeness(candidates)))
        trees = base + apply(self.boosters["median"], inputs)
        repeated = (apply(self.boosters["gate"], inputs) >= TRUST) & (np.diff(candidates.starts) > 0)
        median = np.where(repeated, base, trees)
        return Quantiles(median, *self._interval(inputs, base), repeated)

    def closeness(self, candidates: CandidateTable) -> Vector:
        """Return how likely each candidate is within 25 %, shape (candidates,)."""
        return apply(self.boosters["closeness"], candidates.x) if len(candidates.y) else np.empty(0)

    def _interval(self, inputs: Matrix, base: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the lower and upper ends of the narrowest pair of quantiles of each row, and the share below it."""
        found = {name: np.maximum(base + apply(self.boosters[name], inputs), 0.0) for name in BOUNDS}
        one, other = (np.stack([found[f"{side}_{share:g}"] for share in LOW_SHARES]) for side in ("low", "high"))
        low, high = np.minimum(one, other), np.maximum(one, other)
        narrowest = np.argmin(high - low, axis=0)
        rows = np.arange(len(base))
        return low[narrowest, rows], high[narrowest, rows], np.array(LOW_SHARES)[narrowest]

    @staticmethod
    def _summaries(candidates: CandidateTable, probability: Vector) -> Matrix:
        weight = weights_of(probability)
        rows = range(len(candidates.starts) - 1)
        found = [summarise(candidates.y[part], weight[part]) for part in map(candidates.candidates_of, rows)]
        return np.asarray(found, dtype=np.float64).reshape(len(found), len(SUMMARY))

    def _inputs(self, x: Matrix, summary: Matrix) -> tuple[Matrix, Vector]:
        """Return what the trees see, and the repeat, which their answers are relative to."""
        repeat = summary[:, SUMMARY.index("mode")]
        base = np.where(np.isnan(repeat), self.prior, repeat)
        relative = [x[:, _DURATIONS] - base[:, None], summary[:, : SUMMARY.index("agreement")] - base[:, None]]
        return np.hstack([x[:, _USED], summary, *relative]), base


def _cross_fitted(train: Dataset, candidates: CandidateTable) -> tuple[Matrix, lightgbm.Booster]:
    """Return each row's summary by a model of other weeks, and the model of all weeks."""
    owner = candidates.owners()
    close = (np.abs(candidates.y - train.y[owner]) < CLOSE).astype(np.float64)
    block = np.minimum(owner * BLOCKS // max(1, len(train)), BLOCKS - 1)
    probability = np.full(len(owner), 0.5)
    for number in range(BLOCKS):
        out = block == number
        if out.any() and not out.all():
            fitted = _fit_closeness(candidates.x[~out], close[~out])
            probability[out] = apply(fitted, candidates.x[out])
    return AdvisorModel._summaries(candidates, probability), _fit_closeness(candidates.x, close)  # noqa: SLF001


def _fit_closeness(x: NDArray[np.float32], close: Vector) -> lightgbm.Booster:
    every = slice(None, None, len(close) // PAIRS + 1)
    return fit_booster(
        (x[every], close[every]),
        rounds=80,
        objective="binary",
        learning_rate=0.1,
        num_leaves=63,
        min_data_in_leaf=200,
        feature_fraction=0.7,
        bagging_fraction=0.5,
    )


def _quantile_trees(x: Matrix, residual: Vector, levels: dict[str, float]) -> dict[str, lightgbm.Booster]:
    return {
        name: fit_booster((x, residual), rounds=150, objective="quantile", alpha=level)
        for name, level in levels.items()
    }


def seconds(y: float) -> float:
    """Return the duration of y = ln(1 + seconds), at least 0."""
    return max(0.0, math.expm1(min(y, 30.0)))
