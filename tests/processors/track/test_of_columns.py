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
    assert len(state.kept.templates) == 1


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


def test_reports_that_leave_no_doubt_end_the_search() -> None:
    lines = [f"step {i} loss {1 / i:.4f} step_time 0.5 s" for i in range(1, COUNT)]
    metric, state = track(lines, times=[1e9 + 0.5 * i for i in range(1, COUNT)])
    assert metric is not None
    assert metric.step == COUNT - 1
    assert state.kept.settled
    assert not state.kept.templates


def test_which_of_several_parts_is_the_loss_stays_open() -> None:
    form = "<rollout_update={}/200 - rollout_boxloss={:.3f} - rollout_mlmloss={:.3f} - rollout_l={:.3f}>"
    lines = [form.format(i, 1 / i, 0.2 / i, 1.2 / i) for i in range(1, COUNT)]
    metric, state = track(lines, times=[1e9 + 0.5 * i for i in range(1, COUNT)])
    assert state.kept.no_loss
    assert metric is not None
    assert metric.loss is None


@pytest.mark.parametrize(("name", "throughput"), [("throughput", None), ("samples/s", 64.0)])
def test_a_rate_that_names_nothing_is_left_out_beside_the_step_time(name: str, throughput: float | None) -> None:
    lines = [f"step {i} loss {1 / i:.4f} step_time 0.5 s {name} 64.0" for i in range(1, COUNT)]
    metric, _ = track(lines, times=[1e9 + 0.5 * i for i in range(1, COUNT)])
    assert metric is not None
    assert (metric.step_time_s, metric.throughput) == (0.5, throughput)


def test_a_rate_that_names_nothing_is_told_where_it_is_the_only_speed() -> None:
    metric, _ = track([f"epoch {i} loss {1 / i:.4f} throughput 64.0" for i in range(1, COUNT)])
    assert metric is not None
    assert (metric.throughput, metric.throughput_unit) == (64.0, "samples/s")


def test_a_bare_rate_beside_a_counter_of_steps_is_no_throughput() -> None:
    lines = [f"after {5 * i} updates the loss is {1 / i:.4f} (10.0/s)" for i in range(1, COUNT)]
    metric, _ = track(lines, times=[1e9 + 0.5 * i for i in range(1, COUNT)])
    assert metric is not None
    assert metric.step == 5 * (COUNT - 1)
    assert metric.step_time_s == pytest.approx(0.1)
    assert metric.throughput is None
