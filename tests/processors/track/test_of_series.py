"""Counters that no report names: found among all numbers that a training prints."""

import pytest

from .expecting import track

COUNT = 60


@pytest.mark.parametrize(
    "form",
    [
        "it. no. {i}: loss {loss:.4f}",
        "<{i}> loss {loss:.4f}",
        "cycle {i} loss {loss:.4f}",
        "sweep {i}; loss {loss:.4f}",
        "n={i} loss={loss:.4f}",
        "k {i} f(x) loss {loss:.4f}",
    ],
)
@pytest.mark.parametrize("sizes", [[], [1] * (COUNT - 2), [7] * 8])
def test_a_counter_of_any_name_is_the_step(form: str, sizes: list[int]) -> None:
    lines = [form.format(i=i, loss=1 / i) for i in range(1, COUNT)]
    metric, state = track(lines, times=[1e9 + 0.5 * i for i in range(1, COUNT)], sizes=sizes)
    assert metric is not None
    assert metric.step == COUNT - 1
    assert metric.step_time_s == pytest.approx(0.5)
    assert metric.loss == pytest.approx(1 / (COUNT - 1), abs=1e-4)
    assert len(state.search.templates) == 1


@pytest.mark.parametrize(
    "line",
    [
        "epoch {i} loss {loss:.4f}",
        "loss {loss:.4f} seen {epochs} epochs, best of {fixed}",
    ],
)
def test_what_is_no_step_stays_open(line: str) -> None:
    lines = [line.format(i=i, loss=1 / i, epochs=i, fixed=7) for i in range(1, COUNT)]
    metric, _ = track(lines)
    assert metric is None or metric.step is None


def test_progress_of_other_work_is_no_step() -> None:
    metric, _ = track([f"shard {i} tokenized, {3 * i} documents" for i in range(COUNT)])
    assert metric is None


def test_reports_that_name_their_step_end_the_search() -> None:
    _, state = track([*(f"cycle {i} loss 0.5" for i in range(9)), *(f"step {i} loss 0.4" for i in range(9))])
    assert not state.search.templates
