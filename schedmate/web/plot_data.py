"""The curves and events of a job for the page's script, which draws them so that they answer the pointer."""

from typing import Any

import msgspec

from ..terminal import printable
from .plot import Plot, bounds
from .timeline import Curve, Timeline


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
