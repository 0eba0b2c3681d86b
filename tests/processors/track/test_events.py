"""Logs that print when training begins and ends, and no progress."""

import json

import pytest

from .expecting import track


def event(key: str, second: float, value: object = None, **metadata: object) -> str:
    record = {"namespace": "", "time_ms": int(1.9e12 + 1000 * second), "event_type": "X", "key": key, "value": value}
    return f":::MLLOG {json.dumps({**record, 'metadata': metadata})}"


SIZES = [event("global_batch_size", 0, 100), event("train_samples", 0, 10_000), event("run_start", 1)]


def epochs(count: int, seconds: float = 50.0, evaluation: float = 30.0, since: float = 0.0) -> list[str]:
    made = []
    for i in range(count):
        begin = since + 10 + i * (seconds + evaluation)
        made += [
            event("epoch_start", begin, epoch_num=i),
            event("eval_start", begin + seconds, epoch_num=i),
            event("eval_stop", begin + seconds + evaluation, epoch_num=i),
            event("epoch_stop", begin + seconds + evaluation, epoch_num=i),
        ]
    return made


@pytest.mark.parametrize("sizes", [[], [1] * 60, [5, 5, 5]])
def test_an_epoch_ends_where_its_evaluation_begins(sizes: list[int]) -> None:
    metric, _ = track([*SIZES, *epochs(6)], sizes=sizes)
    assert metric is not None
    assert metric.step_time_s == pytest.approx(0.5)
    assert (metric.throughput, metric.throughput_unit, metric.step) == (pytest.approx(200.0), "samples/s", None)


def test_without_sizes_nothing_is_said() -> None:
    metric, _ = track(epochs(6))
    assert metric is None


def test_samples_that_were_used_in_all_are_no_epoch() -> None:
    metric, _ = track([*SIZES, *epochs(6), event("train_samples", 600, 60_000), event("run_stop", 601)])
    assert metric is not None
    assert metric.throughput == pytest.approx(200.0)


def test_a_new_run_starts_anew() -> None:
    again = [event("global_batch_size", 1000, 100), event("train_samples", 1000, 10_000), event("run_start", 1001)]
    metric, _ = track([*SIZES, *epochs(6), *again, *epochs(3, seconds=20.0, since=1000)])
    assert metric is not None
    assert metric.step_time_s == pytest.approx(0.2)


def test_blocks_that_count_steps() -> None:
    blocks = [
        line
        for i in range(5)
        for line in (
            event("block_start", 10 + 100 * i, i, first_epoch_num=335 * i, epoch_count=335),
            event("block_stop", 10 + 100 * i + 67, i, first_epoch_num=335 * i),
        )
    ]
    metric, _ = track([event("global_batch_size", 0, 448), event("train_samples", 0, 150_000_000), *blocks])
    assert metric is not None
    assert metric.step_time_s == pytest.approx(0.2)
    assert (metric.throughput, metric.step) == (pytest.approx(2240.0), 5 * 335)


def test_blocks_that_count_samples() -> None:
    blocks = [
        line
        for i in range(5)
        for line in (
            event("block_start", 10 + 100 * i, i, first_epoch_num=6400 * i, epoch_count=6400),
            event("block_stop", 10 + 100 * i + 20, i, first_epoch_num=6400 * i),
        )
    ]
    metric, _ = track([event("global_batch_size", 0, 64), *blocks])
    assert metric is not None
    assert metric.step_time_s == pytest.approx(0.2)
    assert (metric.throughput, metric.step) == (pytest.approx(320.0), 500)


def test_between_evaluations_where_epochs_are_not_printed() -> None:
    def old(key: str, second: float) -> str:
        return f":::MLPv0.5.0 resnet {1.9e9 + second:.6f} (main.py:12) {key}"

    made = [old("preproc_num_train_examples: 5000", 0), old("input_batch_size: 32", 0), old("run_start", 1)]
    for i in range(6):
        made += [
            old("eval_start", 100 + 100 * i),
            old("eval_stop", 120 + 100 * i),
            old(f'eval_accuracy: {{"epoch": {4 * i}, "value": 0.5}}', 120.1 + 100 * i),
        ]
    metric, _ = track(made)
    assert metric is not None
    assert metric.throughput == pytest.approx(4 * 5000 / 80)
    assert metric.step_time_s is None  # the batch may be of one process


def test_reports_of_the_training_count_more() -> None:
    reports = [f"step {i} | loss: 2.0 | dt: 12.0ms" for i in range(30)]
    metric, _ = track([*SIZES, *epochs(6), *reports])
    assert metric is not None
    assert (metric.step_time_s, metric.step) == (0.012, 29)
