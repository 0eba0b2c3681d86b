"""`AdvisorModel` as the `DurationPredictor` that the live advisor asks."""

import numpy as np

from ..modes import duration_modes
from ..time_limit import within_limit
from .advisor import AdvisorModel, seconds
from .baselines import RecentErrors, baselines
from .estimate import DurationEstimate, JobFeatures
from .intervals import AdaptiveMargins
from .similar import RELATIONS, CandidateTable

CITED = 3
"""Past jobs that an estimate names."""


def hold(median: float, low: float, high: float) -> tuple[float, float]:
    """Return bounds in order that hold the median: quantiles come from trees of their own, and may cross."""
    return min(low, high, median), max(low, high, median)


class AdvisorPredictor:
    """Answers for one job at a time. `margins` and `errors` are shared: outcomes change them."""

    def __init__(self, model: AdvisorModel, margins: AdaptiveMargins, errors: RecentErrors | None = None) -> None:
        self._model, self._margins, self._errors = model, margins, errors or RecentErrors()

    def predict(self, features: JobFeatures) -> DurationEstimate:
        """Return the estimate of one job."""
        found = features.candidates
        table = CandidateTable(found.x, found.y, np.array([0, len(found.y)], dtype=np.int64))
        predicted = self._model.predict(features.row[None, :], table)
        below, above = self._margins.margins(features.job)
        options = (float(predicted.median[0]), *baselines(found.x, found.y).tolist()) if len(found.y) else ()
        chosen = self._errors.choose(features.job.user) if options else 0
        median = options[chosen] if options else float(predicted.median[0])
        low, high = hold(median, float(predicted.low[0]) - below, float(predicted.high[0]) + above)
        rests_on: tuple[str, ...] = ()
        if chosen:
            rests_on = found.jobs[:CITED]
        elif predicted.repeated[0]:
            heaviest = np.argsort(-self._model.closeness(table), kind="stable")[:CITED]
            rests_on = tuple(found.jobs[place] for place in heaviest)
        median, low, high = (within_limit(seconds(each), features.job.time_limit_s) for each in (median, low, high))
        own = found.x[:, RELATIONS.index("same_user")] > 0
        durations = np.expm1(found.y[own] if own.any() else found.y)
        modes = duration_modes(durations.tolist(), features.job.time_limit_s)
        return DurationEstimate(median, low, high, rests_on, tuple(modes), float(predicted.low_share[0]), options)
