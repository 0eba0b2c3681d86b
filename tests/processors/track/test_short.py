"""Excerpts of three lines: too few for columns of numbers to tell anything, so names and forms alone must not be taken for others."""

from collections.abc import Callable, Mapping

import pytest

from .expecting import track

Expected = Mapping[str, float | None]
FORMS: Mapping[str, tuple[Callable[[int], str], Expected]] = {
    "a cost in minutes": (
        lambda i: f"step {10 * i} loss {3 / i:.3f} cost: {2 + i} m",
        {"step": 30, "loss": 1.0},
    ),
    "a step and its end": (
        lambda i: f"step/total_step: {i}/60 loss {3 / i:.4f}",
        {"step": 3, "loss": 1.0},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_three_lines_tell_step_and_loss(form: str) -> None:
    line, expected = FORMS[form]
    metric, _ = track([line(i) for i in range(1, 4)])
    assert metric is not None
    assert {name: getattr(metric, name) for name in expected} == pytest.approx(dict(expected))
