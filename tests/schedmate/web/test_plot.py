"""Numbers and curves as they are drawn."""

import math
import re

from hypothesis import example, given
from hypothesis import strategies as st

from schedmate.web.plot import HEIGHT, WIDTH, draw, number, sparkline
from schedmate.web.timeline import Curve, Mark, Timeline

FINITE = st.floats(min_value=-1e12, max_value=1e12)
PLACES = re.compile(r"[ML](\S+?) ([^ML]+)")


@given(FINITE)
def test_a_number_stays_within_half_a_percent(value: float) -> None:
    text = number(value)
    assert math.isclose(float(text.replace(",", "")), value, rel_tol=0.006)
    assert len(text) <= 12


def test_what_is_no_number_is_left_empty() -> None:
    assert [number(value) for value in (None, math.nan, math.inf, -math.inf)] == [""] * 4


@given(st.lists(st.tuples(st.floats(0, 4e9), FINITE, st.integers(0, 3)), min_size=1, max_size=50))
@example([(1.0, 1.7e308, 0), (2.0, -1.7e308, 0)])
def test_a_curve_stays_within_its_panel(points: list[tuple[float, float, int]]) -> None:
    points.sort()
    plot = draw(Timeline([Curve("loss", "", points)], [], 0, 1))
    assert plot is not None
    (panel,) = plot.panels
    places = PLACES.findall(panel.path)
    assert len(places) == len(points)
    for x, y in places:
        assert 0 <= float(x) <= WIDTH
        assert panel.top - 0.1 <= float(y) <= panel.top + HEIGHT + 0.1


def test_an_event_far_from_all_curves_does_not_squeeze_them() -> None:
    curve = Curve("loss", "", [(1000.0, 1.0, 0), (2000.0, 2.0, 0)])
    plot = draw(Timeline([curve], [Mark(-9e8, "submitted", 0, ""), Mark(1500.0, "packed", 0, "")], 0, 1))
    assert plot is not None
    assert [line.group for line in plot.lines] == ["pack"]
    assert plot.panels[0].path.startswith(f"M{plot.left:g} ")


def test_without_measurements_there_is_no_plot() -> None:
    assert draw(Timeline([], [Mark(1.0, "started", 0, "")], None, 0)) is None


@given(st.lists(st.none() | st.floats()))
@example([1.7e308, 0.0, -1.7e308])
def test_a_sparkline_is_drawn_of_two_values_or_more(values: list[float | None]) -> None:
    known = [value for value in values if value is not None and math.isfinite(value)]
    assert len(PLACES.findall(sparkline(values))) == (len(known) if len(known) > 1 else 0)
