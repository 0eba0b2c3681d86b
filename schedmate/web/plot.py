"""Curves and events of a job as SVG, made by the server: they need no JavaScript, can be printed, and follow the page's colours."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from ..terminal import printable
from ..top.sparkline import share_of, widened
from .timeline import Curve, Mark, Timeline

WIDTH, LEFT, RIGHT = 960.0, 64.0, 8.0
HEIGHT, GAP, FOOT = 200.0, 26.0, 30.0
TICKS = 6  # labels below a plot
GROUPS = {
    "started": "start",
    "submitted": "start",
    "ended": "end",
    "requeued": "end",
    "packed": "pack",
    "unpacked": "pack",
    "checkpoint": "save",
    "checkpoint failed": "bad",
    "alarm": "bad",
    "verdict": "bad",
}
"""Which colour an event is drawn in; what is not named here is an action."""


@dataclass(frozen=True)
class Panel:
    """One curve, drawn: `path` in SVG's path language with a gap between attempts, and labels of its least and greatest value."""

    title: str
    top: float
    path: str
    low: str
    high: str
    dots: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """A vertical line of an event, and its tooltip: `text`, and the moment `at` in seconds since 1970."""

    x: float
    group: str
    text: str
    at: float


@dataclass(frozen=True)
class Tick:
    """A moment below the plot: `text` in UTC, `at` for programs."""

    x: float
    text: str
    at: str


@dataclass(frozen=True)
class Plot:
    """All that the template draws, in the units of the view box, `width` by `height`, from `since` until `until` (seconds since 1970)."""

    width: float
    height: float
    panel_height: float
    left: float
    right: float
    panels: Sequence[Panel]
    lines: Sequence[Line]
    ticks: Sequence[Tick]
    legend: Sequence[str]
    since: float
    until: float


def draw(known: Timeline, until: float | None = None) -> Plot | None:
    """Return the plot of `known`, all curves on one axis of time; None where nothing was measured.

    The axis reaches to `until`, in seconds since 1970: the present, for a job that runs.
    """
    if not known.curves:
        return None
    moments = [at for curve in known.curves for at, _, _ in curve.points]
    # Events are drawn that are within 10 minutes of a measurement, or within half of the measured time.
    near = max(600.0, (max(moments) - min(moments)) / 2)
    # A job may wait for days before it starts: what is far from all measurements would squeeze them. A hang that ends must be seen.
    marks = [mark for mark in known.marks if min(moments) - near <= mark.at <= max(moments) + near]
    moments += [mark.at for mark in marks]
    axis = _Axis(min(moments), max([*moments, *([] if until is None else [until])]))
    panels = [_panel(curve, place * (HEIGHT + GAP) + GAP, axis) for place, curve in enumerate(known.curves)]
    foot = len(panels) * (HEIGHT + GAP)
    lines = [Line(axis.x(mark.at), GROUPS.get(mark.kind, "act"), _label(mark), mark.at) for mark in marks]
    legend = sorted({line.group for line in lines})
    return Plot(
        WIDTH,
        foot + FOOT,
        HEIGHT,
        LEFT,
        WIDTH - RIGHT,
        panels,
        lines,
        list(_ticks(axis)),
        legend,
        axis.since,
        axis.until,
    )


@dataclass(frozen=True)
class _Axis:
    since: float
    until: float

    def x(self, at: float) -> float:
        share = (at - self.since) / (self.until - self.since) if self.until > self.since else 0.5
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _panel(curve: Curve, top: float, axis: _Axis) -> Panel:
    values = [value for _, value, _ in curve.points]
    least, greatest = bounds(curve)
    low, high = min(values) if least is None else least, max(values) if greatest is None else greatest
    if least is None and greatest is None:
        low, high = widened(low, high)
    flat = high == low
    places = [(axis.x(at), round(top + HEIGHT * (1 - share_of(value, low, high)), 1)) for at, value, _ in curve.points]
    attempts = [attempt for _, _, attempt in curve.points]
    begins = [place == 0 or attempt != attempts[place - 1] for place, attempt in enumerate(attempts)]
    path = "".join(f"{'M' if begin else 'L'}{x:g} {y:g}" for begin, (x, y) in zip(begins, places, strict=True))
    title = f"{curve.name}{f', {curve.unit}' if curve.unit else ''}"
    return Panel(title, top, path, "" if flat else number(low), number(high), places if len(places) <= 40 else ())


def bounds(curve: Curve) -> tuple[float | None, float | None]:
    """Return the least and the greatest value of the axis of `curve`; None: what was measured decides."""
    if curve.unit == "%":
        return 0.0, 100.0
    # An axis that begins elsewhere makes a small change of a size look large.
    return (
        0.0 if curve.name in {"step time", "throughput"} and all(value > 0 for _, value, _ in curve.points) else None
    ), None


def _ticks(axis: _Axis) -> Iterator[Tick]:
    seconds = axis.until - axis.since
    form = "%H:%M:%S" if seconds < 1800 else "%H:%M" if seconds < 86_400 else "%m-%d %H:%M"
    for place in range(TICKS):
        at = axis.since + seconds * place / (TICKS - 1)
        moment = datetime.fromtimestamp(at, UTC)
        yield Tick(axis.x(at), moment.strftime(form), moment.isoformat())
        if not seconds:
            return


def _label(mark: Mark) -> str:
    return f"{mark.kind}{f': {mark.about}' if mark.about else ''} (attempt {mark.attempt})"


def number(value: float | None) -> str:
    """Return a measurement with three digits that count, without an exponent where a person reads it more easily so."""
    if value is None or not math.isfinite(value):
        return ""
    if not value:
        return "0"
    if not 1e-3 <= abs(value) < 1e6:
        return f"{value:.3g}"
    digits = 3 - math.floor(math.log10(abs(value))) - 1
    return f"{round(value, max(digits, 0)):,.{max(digits, 0)}f}"


def sparkline(values: Sequence[float | None], width: float = 90.0, height: float = 20.0) -> str:
    """Return a small curve of `values`, oldest first, in SVG's path language; empty for fewer than two."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    if len(known) < 2:
        return ""
    low, high = widened(min(known), max(known))
    step = width / (len(known) - 1)
    level = [1 + (height - 2) * (1 - share_of(value, low, high)) for value in known]
    return "M" + "L".join(f"{place * step:.1f} {y:.1f}" for place, y in enumerate(level))


def plot_data(known: Timeline, plot: Plot) -> str:
    """Return what `static/plots.js` draws, as JSON: all of `plot`, in seconds since 1970.

    Its text is as printable as the page's. Between two attempts a curve has a point without a value.
    """
    drawn = {
        "since": plot.since,
        "until": plot.until,
        "curves": [_curve(curve) for curve in known.curves],
        "marks": [{"at": line.at, "group": line.group, "text": printable(line.text)} for line in plot.lines],
    }
    return msgspec.json.encode(drawn).decode()


def _curve(curve: Curve) -> dict[str, Any]:
    points = sorted(curve.points)  # an attempt's last report may come after the first of the next
    at: list[float] = []
    values: list[float | None] = []
    for place, (moment, value, attempt) in enumerate(points):
        if place and attempt != points[place - 1][2]:
            at.append(round((points[place - 1][0] + moment) / 2, 3))
            values.append(None)
        at.append(round(moment, 3))
        values.append(float(f"{value:.6g}"))
    low, high = bounds(curve)
    return {"name": curve.name, "unit": printable(curve.unit), "low": low, "high": high, "at": at, "values": values}
