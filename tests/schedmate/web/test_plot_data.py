"""What the page's script is told of a job's curves."""

import json
import math

from schedmate.web.plot import draw, plot_data
from schedmate.web.timeline import Curve, Mark, Timeline


def plotted(*curves: Curve, marks: tuple[Mark, ...] = ()) -> dict[str, object]:
    known = Timeline(curves, marks, 0, 1)
    plot = draw(known)
    assert plot is not None
    return dict(json.loads(plot_data(known, plot)))


def test_a_curve_breaks_between_attempts_and_time_never_goes_back() -> None:
    late = Curve("loss", "", [(10.0, 2.0, 0), (21.0, 1.0, 0), (20.0, 3.0, 1)])
    (curve,) = plotted(late)["curves"]  # type: ignore[misc]
    assert curve["at"] == [10.0, 15.0, 20.0, 20.5, 21.0]
    assert curve["values"] == [2.0, None, 3.0, None, 1.0]


def test_axes_begin_where_those_of_the_drawing_begin() -> None:
    points = [(10.0, 0.5, 0), (20.0, 0.6, 0)]
    said = plotted(Curve("step time", "s", points), Curve("loss", "", points), Curve("GPU use", "%", points))
    bounds = [(curve["low"], curve["high"]) for curve in said["curves"]]  # type: ignore[attr-defined]
    assert bounds == [(0.0, None), (None, None), (0.0, 100.0)]


def test_text_of_a_job_shows_its_marks_and_no_number_breaks_it() -> None:
    curve = Curve("loss", "\u202e", [(10.0, math.inf, 0), (20.0, 1.0, 0)])
    said = plotted(curve, marks=(Mark(12.0, "packed", 0, "with job \x1b\u202e"),))
    assert said["marks"] == [{"at": 12.0, "group": "pack", "text": "packed: with job \\x1b\\u202e (attempt 0)"}]
    assert said["curves"][0]["values"] == [None, 1.0]  # type: ignore[index]
