"""LASched's prediction task on one trace: 70/15/15 by submission, all methods, one table (Tables 3 and 6)."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from processors.advise.predictors.advisor import AdvisorModel
from processors.advise.predictors.dataset import Dataset, Vector, build
from processors.advise.predictors.features import KEYS, Encoders
from processors.advise.predictors.job import Completion
from processors.advise.predictors.similar import gather

from .adaptive import intervals
from .methods import PRELIMINARY, SIX
from .plain_trees import PlainTrees

TRAIN, VALIDATION = 0.70, 0.15
ADVISOR, PLAIN = "Advisor", "Plain LightGBM"
NAMES = (*SIX, *PRELIMINARY, PLAIN, ADVISOR)


class Predictions(msgspec.Struct):
    """What each method predicts for the test jobs."""

    test: Dataset
    seconds: dict[str, Vector]
    recurring: NDArray[np.bool_]
    """The job's signature was seen in training."""
    bounds: tuple[Vector, Vector] | None
    """The advisor's adaptive intervals, in seconds."""

    @property
    def true(self) -> Vector:
        """Return the durations of the test jobs in seconds."""
        return np.expm1(self.test.y)


def predict(
    jobs: Sequence[Completion], utc_offset_s: float, names: Sequence[str], step: Callable[[str], None]
) -> Predictions:
    """Fit the named methods on the earliest 85 % and predict the rest.

    Encoders see the earliest 70 % alone; histories grow with every job that ended before a submission.
    """
    ordered = sorted(jobs, key=lambda done: done.job.submitted)
    cuts = int(TRAIN * len(ordered)), int((TRAIN + VALIDATION) * len(ordered))
    encoders = Encoders.fit(ordered[: cuts[0]], utc_offset_s)
    step("features")
    data = build(ordered, encoders)
    train, validation, test = (
        data.select_rows(part) for part in (slice(0, cuts[0]), slice(*cuts), slice(cuts[1], None))
    )
    found: dict[str, Vector] = {}
    bounds = None
    for name in names:
        step(name)
        if name == ADVISOR:
            candidates = gather(ordered)
            model, margins = AdvisorModel.fit(data.select_rows(slice(0, cuts[1])), candidates.rows(0, cuts[1]))
            predicted = model.predict(test.x, candidates.rows(cuts[1], len(ordered)))
            found[name] = np.expm1(predicted.median)
            bounds = intervals(test.jobs, predicted, margins)
        else:
            method = PlainTrees() if name == PLAIN else (SIX | PRELIMINARY)[name](encoders)
            method.fit(train, validation)
            found[name] = np.maximum(0.0, np.expm1(method.predict(test)))
    place = KEYS.index("signature")
    seen = {encoders.keys(done.job)[place] for done in train.jobs}
    return Predictions(test, found, np.array([encoders.keys(done.job)[place] in seen for done in test.jobs]), bounds)
