"""Predicts Venus's September from April to 6 July: `python -m benchmarks.lasched september --trace DIR`.

Three settings, because two months lie between:

- frozen: models and histories end on 6 July.
- growing: models end on 6 July; histories hold every job that ended before the submission, as they do in production.
- retrained: as growing, and the advisor's model is fitted anew every Monday on all that has ended.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from processors.advise.predictors.advisor import AdvisorModel, Quantiles
from processors.advise.predictors.dataset import Dataset, Vector, build
from processors.advise.predictors.features import Encoders
from processors.advise.predictors.intervals import AdaptiveMargins
from processors.advise.predictors.job import Completion
from processors.advise.predictors.similar import CandidateTable, gather

from .adaptive import intervals
from .baselines import KEYS, last_five
from .methods import PRELIMINARY, SIX
from .plain_trees import PlainTrees
from .traces import venus

VALIDATION = 0.15 / 0.85
"""The newest share of training that stops and calibrates, as in 70/15/15."""
WEEK_S = 7 * 86_400.0
ADVISOR = "advisor"


class Setting(msgspec.Struct):
    """What each method predicts for September, in seconds."""

    name: str
    jobs: list[Completion]
    predictions: dict[str, Vector] = {}
    bounds: dict[str, tuple[Vector, Vector]] = {}
    """Intervals by how their margins came about."""


class Outcome(msgspec.Struct):
    """All settings, and who was seen in training."""

    settings: list[Setting]
    known_user: NDArray[np.bool_]


class _Split:
    """Training rows, and September as a setting sees it."""

    def __init__(self, spring: list[Completion], september: list[Completion], until: float, *, grows: bool) -> None:
        self.encoders = Encoders.fit(spring, venus.UTC_OFFSET_S)
        limit = float("inf") if grows else until
        self.all = build([*spring, *september], self.encoders, known_until=limit)
        self.candidates = gather([*spring, *september], known_until=limit)
        self.border = len(spring)

    def rows(self, first: int, last: int | None = None) -> tuple[Dataset, CandidateTable]:
        last = len(self.all) if last is None else last
        return self.all.select_rows(slice(first, last)), self.candidates.rows(first, last)


def run(folder: Path, *, retrain: bool, only: Sequence[str] = ()) -> Outcome:
    """Return the predictions of every method in every setting; `only` names the methods of ATLAS to run, all if empty."""
    spring, september = (venus.read(folder / name) for name in (venus.SPRING, venus.SEPTEMBER))
    until = max(done.job.submitted for done in spring) + 1
    methods = {name: make for name, make in (SIX | PRELIMINARY).items() if not only or name in only}
    with Progress(transient=True) as progress:
        task = progress.add_task("features", total=4 + len(methods) + 6 * retrain)

        def step(what: str) -> None:
            progress.update(task, advance=1, description=what)

        growing = _Split(spring, september, until, grows=True)
        step("features, frozen")
        frozen = _Split(spring, september, until, grows=False)
        step(ADVISOR)
        model, margins = AdvisorModel.fit(*growing.rows(0, growing.border))
        settings = []
        for name, split in (("frozen", frozen), ("growing", growing)):
            setting = Setting(name, split.rows(split.border)[0].jobs)
            _without_models(setting, split, until if split is frozen else float("inf"))
            predicted = model.predict(split.rows(split.border)[0].x, split.rows(split.border)[1])
            setting.predictions[ADVISOR] = np.expm1(predicted.median)
            setting.bounds["split conformal"] = intervals(setting.jobs, predicted, _copy(margins), learn=False)
            if split is growing:
                setting.bounds["adaptive"] = intervals(setting.jobs, predicted, _copy(margins))
            settings.append(setting)
        for name, make in methods.items():
            step(name)
            cut = int(growing.border * (1 - VALIDATION))
            method = make(growing.encoders)
            method.fit(growing.rows(0, cut)[0], growing.rows(cut, growing.border)[0])
            for setting, split in zip(settings, (frozen, growing), strict=True):
                setting.predictions[name] = np.maximum(0.0, np.expm1(method.predict(split.rows(split.border)[0])))
        if retrain:
            settings.append(_retrained(growing, model, _copy(margins), step))
    users = {done.job.user for done in spring}
    return Outcome(settings, np.array([done.job.user in users for done in settings[0].jobs]))


def _without_models(setting: Setting, split: _Split, known_until: float) -> None:
    train, jobs = split.rows(0, split.border)[0], split.all.jobs
    middle = float(np.median(train.y))
    setting.predictions["constant"] = np.full(len(setting.jobs), np.expm1(middle))
    for name, key in KEYS.items():
        for kind, y in last_five(jobs, key, middle, known_until).items():
            setting.predictions[f"{name}, {kind}"] = np.expm1(y[split.border :])
    plain = PlainTrees()
    plain.fit(train, train.select_rows(slice(0, 0)))
    setting.predictions["plain LightGBM"] = np.expm1(plain.predict(split.rows(split.border)[0]))


def _retrained(split: _Split, first: AdvisorModel, margins: AdaptiveMargins, step: Callable[[str], None]) -> Setting:
    parts: list[Quantiles] = []
    model = first
    for start, end, monday in _weeks(split):
        if monday:
            step("a week's model")
            ended = np.array([done.ended < monday for done in split.all.jobs[:start]])
            model, _ = AdvisorModel.fit(
                split.all.select_rows(np.append(ended, np.zeros(len(split.all) - start, bool))), _chosen(split, ended)
            )
        parts.append(model.predict(split.rows(start, end)[0].x, split.rows(start, end)[1]))
    predicted = Quantiles(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("median", "low", "high", "low_share", "repeated")
        )
    )
    setting = Setting("retrained", split.rows(split.border)[0].jobs)
    setting.predictions[ADVISOR] = np.expm1(predicted.median)
    setting.bounds["adaptive"] = intervals(setting.jobs, predicted, margins)
    return setting


def _weeks(split: _Split) -> Iterator[tuple[int, int, float]]:
    """Yield the rows of each week of the test, and the Monday before it; 0 for the first, which has the model of July."""
    times = np.array([done.job.submitted for done in split.all.jobs])
    local = times[split.border] + venus.UTC_OFFSET_S
    monday = local - (local - 4 * 86_400) % WEEK_S - venus.UTC_OFFSET_S  # 5 January 1970 was a Monday
    start, known = split.border, 0.0
    while start < len(times):
        monday += WEEK_S
        end = int(np.searchsorted(times, monday))
        yield start, end, known
        start, known = end, monday


def _chosen(split: _Split, rows: NDArray[np.bool_]) -> CandidateTable:
    """Return the candidates of some of the first rows."""
    table = split.candidates.rows(0, len(rows))
    kept = rows[table.owners()]
    counts = np.diff(table.starts)[rows]
    return CandidateTable(table.x[kept], table.y[kept], np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))


def _copy(margins: AdaptiveMargins) -> AdaptiveMargins:
    made = AdaptiveMargins()
    made.parts.update({group: list(part) for group, part in margins.parts.items()})
    return made
