"""What was told, held against what came: by job, as `schedmate query starts` does."""

import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

SLACK_S = 60.0
"""A start so much outside of the range counts as inside, as in the view `start_scores`."""
BANDS = {
    600.0: "below 10 minutes",
    3600.0: "10 minutes to an hour",
    21_600.0: "1 to 6 hours",
    1e15: "6 hours and above",
    math.inf: "not known",
}
"""What the wait was to be, by what it was to be below, as in the query."""
COLUMNS = (
    "limits", "known of durations", "expected wait", "jobs", "looks", "inside", "before", "after", "no upper end",
    "late, median s", "off, median s", "off, median %",
)  # fmt: skip


class StartForecast(msgspec.Struct, frozen=True):
    """What a job was told in one look, in seconds from then, and what came.

    Attributes:
        limits: The rule of limits.
        known: What was known of durations.
        job: Who was told.
        now: When, in seconds of the trace.
        expected: The middle of the range; None where it starts in fewer than half of the futures.
        low: Its lower end; None where it starts in fewer than one future of twenty.
        high: Its upper end; None where there is none.
        waited: When it started.
    """

    limits: str
    known: str
    job: str
    now: float
    expected: float | None
    low: float | None
    high: float | None
    waited: float


def rows(forecasts: Iterable[StartForecast]) -> list[Sequence[object]]:
    """Return a row of `COLUMNS` for each rule and knowledge, as first met: of all waits, then of each band."""
    groups: dict[tuple[str, str], list[StartForecast]] = {}
    for each in forecasts:
        groups.setdefault((each.limits, each.known), []).append(each)
    found: list[Sequence[object]] = []
    for key, members in groups.items():
        found.append((*key, "all", *figures(members)))
        bands = ((name, [each for each in members if _band(each.expected) == name]) for name in BANDS.values())
        found += [(*key, name, *figures(some)) for name, some in bands if some]
    return found


def figures(forecasts: Sequence[StartForecast]) -> tuple[object, ...]:
    """Return the figures of some forecasts. Each job counts once, with the mean of all that it was told.

    Shares are of ranges with an upper end; of the middle, where there is one.
    """
    ended = [(each, each.low, each.high) for each in forecasts if each.low is not None and each.high is not None]
    middle = [(each, each.expected) for each in forecasts if each.expected is not None]

    def share(holds: Iterable[bool]) -> float:
        return round(float(np.mean(_by_job([each for each, *_ in ended], holds))), 3) if ended else math.nan

    told = [each for each, _ in middle]
    late = [each.waited - expected for each, expected in middle]
    relative = [abs(off) / max(each.waited, SLACK_S) for off, each in zip(late, told, strict=True)]
    before = [each.waited < low - SLACK_S for each, low, _ in ended]
    after = [each.waited > high + SLACK_S for each, _, high in ended]
    return (
        len({each.job for each in forecasts}),
        len(forecasts),
        share(not (one or other) for one, other in zip(before, after, strict=True)),
        share(before),
        share(after),
        round(1 - len(ended) / len(forecasts), 3),
        _median(_by_job(told, late)),
        _median(_by_job(told, map(abs, late))),
        round(100 * _median(_by_job(told, relative), 4)) if middle else math.nan,
    )


def _band(expected: float | None) -> str:
    if expected is None:
        return BANDS[math.inf]
    return next(name for below, name in BANDS.items() if expected < below)


def _by_job(forecasts: Sequence[StartForecast], values: Iterable[float]) -> list[float]:
    kept: dict[str, list[float]] = {}
    for each, value in zip(forecasts, values, strict=True):
        kept.setdefault(each.job, []).append(value)
    return [float(np.mean(of_one)) for of_one in kept.values()]


def _median(values: Sequence[float], digits: int = 0) -> float:
    return round(float(np.median(values)), digits) if values else math.nan
