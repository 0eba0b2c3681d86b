"""Two runs on one chart: each measurement over the time since a run's first one, a colour each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..times import span
from ..top.sparkline import widened
from .plot import bounds, number
from .timeline import Curve, Timeline

WIDTH: Final = 960.0
"""Width of a chart in units of the SVG, without the labels. `compare.html` sets its `viewBox` by it."""
HEIGHT: Final = 200.0
"""Height of a chart in the same units."""


@dataclass(frozen=True)
class Run:
    """One of the runs: the row of the list of jobs, its state in one line, and its measurements."""

    row: Mapping[str, Any]
    sentence: str
    timeline: Timeline


@dataclass(frozen=True)
class Chart:
    """A measurement of both runs: a path each, empty where a run has none, and labels of the least and greatest value and the time."""

    title: str
    paths: Sequence[str]
    low: str
    high: str
    until: str


def charts(runs: Sequence[Run]) -> Iterator[Chart]:
    """Yield a chart for each measurement that a run has."""
    curves = [{curve.name: curve for curve in run.timeline.curves} for run in runs]
    for name in dict.fromkeys(name for known in curves for name in known):
        yield _chart([known.get(name) for known in curves])


def _chart(curves: Sequence[Curve | None]) -> Chart:
    known = [curve for curve in curves if curve is not None]
    values = [value for curve in known for _, value, _ in curve.points]
    least, greatest = bounds(known[0])
    low, high = widened(min(values), max(values))
    low, high = low if least is None else least, high if greatest is None else greatest
    longest = max(curve.points[-1][0] - curve.points[0][0] for curve in known)
    title = f"{known[0].name}{f', {known[0].unit}' if known[0].unit else ''}"
    paths = [_path(curve, low, high, longest) if curve else "" for curve in curves]
    return Chart(title, paths, number(low), number(high), span(longest))


def _path(curve: Curve, low: float, high: float, longest: float) -> str:
    since = curve.points[0][0]
    places = [
        (
            WIDTH * ((at - since) / longest if longest else 0.5),
            HEIGHT * (1 - ((value - low) / (high - low) if high > low else 0.5)),
        )
        for at, value, _ in curve.points
    ]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
