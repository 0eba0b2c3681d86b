"""Excerpts of three lines: too few for columns of numbers to tell anything, so names and forms alone must not be taken for others."""

from collections.abc import Callable, Mapping

import pytest

from .expecting import track

Expected = Mapping[str, float | None]
FORMS: Mapping[str, tuple[Callable[[int], str], Expected]] = {
    "a step between the name of a loss and the loss": (
        lambda i: f"train loss {250 * i} {3 / i:.4f}",
        {"step": 750, "loss": 1.0},
    ),
    "a loss after so many": (
        lambda i: f"Loss after {1000 * i} iterations: {3 / i:.4f}",
        {"step": 3000, "loss": 1.0},
    ),
    "losses by their names": (
        lambda i: f"step {i} loss box/class/total = {1 / i:.3f}/{2 / i:.3f}/{3 / i:.3f}",
        {"step": 3, "loss": 1.0},
    ),
    "two losses by their names": (
        lambda i: f"[{i * 10}] train/val loss: {1 / i:.3f}/{2 / i:.3f}",
        {"step": 30, "loss": 0.333},
    ),
    "an epoch and a step in it": (
        lambda i: f"Epoch/Iter: 1/{10 * i} loss: {3 / i:.3f}",
        {"step": 30, "loss": 1.0},
    ),
    "a step behind a clock": (
        lambda i: f"0:00:{10 * i} - {260 * i:6d} - 43.0 sent/s - loss {3 / i:.3f}",
        {"step": 780, "loss": 1.0, "throughput": 43.0},
    ),
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
