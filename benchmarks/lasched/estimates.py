"""The advisor's estimates and simple baselines on the newest part of a trace: `python -m benchmarks.lasched estimates venus DIR`.

The jobs are split by time: the model learns from the first part alone, histories grow as in production, and only the last part is scored.
"""

import itertools
import math
from collections import defaultdict, deque
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from processors.advise.modes import duration_modes
from processors.advise.predictors.advisor import AdvisorModel
from processors.advise.predictors.baselines import BASELINES, OPTIONS, RecentErrors, baselines
from processors.advise.predictors.dataset import Vector, build, replay
from processors.advise.predictors.features import Encoders
from processors.advise.predictors.job import Completion, Submission
from processors.advise.predictors.similar import RELATIONS, CandidateTable, gather

from .adaptive import intervals

TRAINED = 0.7
"""Share of a trace, the oldest, that the model learns from, where the trace has no border of its own."""


class Scored(msgspec.Struct):
    """What was predicted for the jobs of the last part, in seconds."""

    jobs: list[Completion]
    seconds: dict[str, Vector]
    bounds: dict[str, tuple[Vector, Vector]]
    modes: list[tuple[float, bool]]
    """Predicted share of each mode, and whether the job was in it."""
    several: float
    """Share of jobs whose history has several modes."""


def score(jobs: Sequence[Completion], border: int, utc_offset_s: float) -> Scored:
    """Return the predictions for the jobs from `border` on, in the order of submission, by a model of those before."""
    ordered = sorted(jobs, key=lambda done: done.job.submitted)
    encoders = Encoders.fit(ordered[:border], utc_offset_s)
    data, candidates = build(ordered, encoders), gather(ordered)
    train, held = data.select_rows(slice(0, border)), data.select_rows(slice(border, None))
    model, margins = AdvisorModel.fit(train, candidates.rows(0, border))
    table = candidates.rows(border, len(ordered))
    predicted = model.predict(held.x, table)
    options = np.array([baselines(table.x[part], table.y[part]) for part in map(table.candidates_of, range(len(held)))])
    options = np.column_stack([predicted.median, np.where(np.isnan(options), predicted.median[:, None], options)])
    chosen = choices(held.jobs, options)
    median = options[np.arange(len(held)), chosen]
    seconds = {"user's median, all jobs": _user_medians(ordered)[border:]}
    seconds |= {f"user: {name}": options[:, 1 + place] for place, name in enumerate(BASELINES)}
    seconds |= {"model alone": predicted.median, "advisor": median}
    ends = intervals(held.jobs, msgspec.structs.replace(predicted, median=median), margins)
    modes, several = _modes(held.y, table)
    return Scored(held.jobs, {name: np.expm1(y) for name, y in seconds.items()}, {"advisor": ends}, modes, several)


def choices(jobs: Sequence[Completion], options: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the option that the advisor chooses at each submission, from the errors on jobs that had ended."""
    errors, rows, chosen = RecentErrors(), dict[str, int](), np.zeros(len(jobs), dtype=np.int64)
    assert options.shape[1] == OPTIONS
    for event in replay(jobs):
        if isinstance(event, Submission):
            rows[event.job_id] = row = len(rows)
            chosen[row] = errors.choose(event.user)
        else:
            errors.update(event.job.user, options[rows[event.job.job_id]], math.log1p(event.duration_s))
    return chosen


def _user_medians(jobs: Sequence[Completion]) -> Vector:
    """Return the median y of all earlier jobs of the user (the queue where no user is known), at most 1,000."""
    past: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=1000))
    everyone: deque[float] = deque(maxlen=1000)
    found = []
    for event in replay(jobs):
        if isinstance(event, Submission):
            known = past.get(event.user or event.queue) or everyone
            found.append(float(np.median(known)) if known else 0.0)
        else:
            y = math.log1p(event.duration_s)
            past[event.job.user or event.job.queue].append(y)
            everyone.append(y)
    return np.array(found)


def _modes(true: Vector, table: CandidateTable) -> tuple[list[tuple[float, bool]], float]:
    found, several = list[tuple[float, bool]](), 0
    for row, y in enumerate(true):
        part = table.candidates_of(row)
        own = table.x[part, RELATIONS.index("same_user")] > 0
        modes = duration_modes(np.expm1(table.y[part][own] if own.any() else table.y[part]).tolist())
        several += bool(modes)
        limits = [math.log1p(one.high_s) + math.log1p(other.low_s) for one, other in itertools.pairwise(modes)]
        place = int(np.searchsorted(np.array(limits) / 2, y))
        found += [(mode.share, number == place) for number, mode in enumerate(modes)]
    return found, several / len(true)


def modes_table(scored: Scored) -> Table:
    """Return the predicted share of modes, and the share of jobs that ended in them."""
    title = f"Modes: {100 * scored.several:.0f} % of the jobs have a history with several"
    table = Table("predicted share", "jobs in the mode", "modes", title=title, title_justify="left", box=None)
    shares, hits = (np.array(each) for each in zip(*scored.modes, strict=True)) if scored.modes else (np.empty(0),) * 2
    for low, high in ((0.1, 0.2), (0.2, 0.35), (0.35, 0.5), (0.5, 0.7), (0.7, 1.0)):
        rows = (shares >= low) & (shares < high)
        if rows.any():
            table.add_row(f"{100 * shares[rows].mean():.0f} %", f"{100 * hits[rows].mean():.0f} %", f"{rows.sum()}")
    return table
