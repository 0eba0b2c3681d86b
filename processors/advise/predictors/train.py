"""Trains a model and compares it with the current one on the newest week, on which neither was trained."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from .advisor import AdvisorModel
from .baselines import RecentErrors, baselines
from .dataset import build
from .features import Encoders
from .job import Completion
from .saved_model import SavedModel, hash_of
from .similar import gather

WEEK_S = 7 * 86_400.0
FEWEST = 200
"""Jobs before the newest week, and a tenth of it in that week, without which nothing is trained."""


class TooFewJobs(ValueError):
    """There are too few jobs for a training; the message states how many are needed."""


class Trained(msgspec.Struct):
    """A new model, and the scores of the old one on the same jobs."""

    new: SavedModel
    old_scores: dict[str, float] | None
    """The old model's on the same jobs; None without an old model."""
    better: bool


def train(jobs: Sequence[Completion], old: SavedModel | None, utc_offset_s: float = 0.0) -> Trained:
    """Return a model of all jobs, and whether it should replace `old`.

    The newest week by submission is held out for the comparison: a candidate learns from jobs that had ended before it, and both
    predict it. The model that is returned learns from all. It is better if its median error |ln p̂ - ln p| is smaller.
    An old model that was trained on that week already would have an advantage; it then only yields to one that beats it even so.

    Raises:
        TooFewJobs: there are fewer than `FEWEST` jobs before the newest week, or fewer than a tenth of that in it.
    """
    ordered = sorted(jobs, key=lambda done: done.job.submitted)
    border = ordered[-1].job.submitted - WEEK_S if ordered else 0.0
    earlier = [done for done in ordered if done.ended < border]
    week = np.array([done.job.submitted >= border for done in ordered], dtype=bool)
    if len(earlier) < FEWEST or week.sum() < FEWEST // 10:
        raise TooFewJobs(
            f"expected at least {FEWEST} ended jobs before the newest week and {FEWEST // 10} in it; "
            f"got {len(earlier)} and {int(week.sum())}"
        )
    trial = _fit(earlier, utc_offset_s)
    scores, errors = _scores(trial, ordered, week)
    final = _fit(ordered, utc_offset_s)
    final.scores, final.errors = scores, errors
    old_scores = _scores(old, ordered, week)[0] if old else None
    better = old_scores is None or scores["median_log_error"] < old_scores["median_log_error"]
    return Trained(final, old_scores, better)


def _fit(jobs: list[Completion], utc_offset_s: float) -> SavedModel:
    encoders = Encoders.fit(jobs, utc_offset_s)
    model, margins = AdvisorModel.fit(build(jobs, encoders), gather(jobs))
    return SavedModel(model, margins, encoders, max(done.ended for done in jobs), len(jobs), hash_of(jobs), {})


def _scores(
    saved: SavedModel, jobs: list[Completion], week: NDArray[np.bool_]
) -> tuple[dict[str, float], RecentErrors]:
    """Return how a model does on the rows of `week`, with histories that grow, and its errors there with those of the baselines."""
    data, candidates = build(jobs, saved.encoders), gather(jobs)
    first = int(np.argmax(week))
    held = data.select_rows(slice(first, None))
    table = candidates.rows(first, len(jobs))
    median = saved.model.predict(held.x, table).median
    error = np.abs(median - held.y)
    errors = RecentErrors()
    for row in sorted(range(len(held)), key=lambda each: held.jobs[each].ended):
        if len(table.y[part := table.candidates_of(row)]):
            options = np.append(median[row], baselines(table.x[part], table.y[part]))
            errors.update(held.jobs[row].job.user, options, float(held.y[row]))
    return {
        "jobs": float(len(held)),
        "median_log_error": float(np.median(error)),
        "mean_log_error": float(error.mean()),
        "within_factor_2": float(np.mean(error <= np.log(2))),
    }, errors
