"""More formats, as frameworks print them: written here, with the numbers that they state."""

from collections.abc import Callable, Sequence

import pytest

from .expecting import clock, expect_however_cut, track


def loss(i: int) -> float:
    return 3 - i / 50


def lines(make: Callable[[int], str | list[str]], head: Sequence[str] = ()) -> list[str]:
    made = [make(i) for i in range(1, 41)]
    return [*head, *(line for each in made for line in ([each] if isinstance(each, str) else each))]


FORMATS: dict[str, tuple[list[str], dict[str, object]]] = {
    "estimator": (
        lines(
            lambda i: [f"INFO:root:step/sec: {8 + i % 2 / 10:.4f}", f"INFO:root:loss = {loss(i):.5f}, step = {100 * i}"]
        ),
        {"step": 4000, "loss": 2.2},
    ),
    "translation": (
        lines(
            lambda i: (
                f"[{clock(61.2 * i)[:19]}] Ep. 1 : Up. {100 * i} : Sen. {25600 * i:,} : Cost {loss(i):.6f} : Time 61.20s : 14705.90 words/s"
            )
        ),
        {"step": 4000, "step_time_s": 0.612, "throughput": 14705.9, "throughput_unit": "tokens/s", "loss": 2.2},
    ),
    "interval time": (
        lines(lambda i: f"step {50 * i} loss {loss(i):.4f} time 30.0s ({clock(30 * i)[11:19]})"),
        {"step": 2000, "step_time_s": 0.6},
    ),
    "per hundred": (
        lines(lambda i: f"Iter {100 * i}: loss={loss(i):.4f} (31.0 sec per 100 iters)"),
        {"step": 4000, "step_time_s": 0.31},
    ),
    "parts and their sum": (
        lines(
            lambda i: (
                f"step={i} loss={loss(i):.3f} | fwd 102.0ms bwd 210.5ms opt 8.1ms total 322.1ms | 24,001 tok/s/gpu"
            )
        ),
        {"step": 40, "step_time_s": 0.3221, "throughput": 24001.0, "throughput_unit": "tokens/s/gpu"},
    ),
    "data time first": (
        lines(
            lambda i: (
                f"[host1] {clock(50 * i)} (trainer:763) INFO: 3epoch:train:{100 * (i - 1) + 1}-{100 * i}batch: iter_time=1.1e-03, "
                f"forward_time=0.21, loss={loss(i):.3f}, backward_time=0.19, train_time=0.500"
            )
        ),
        {"step_time_s": 0.5, "loss": 2.2},
    ),
    "elapsed in brackets": (
        lines(lambda i: f"[{50 * i}] elapsed=0:{i // 2:02}:{30 * (i % 2):02} loss={loss(i):.3f}"),
        {"step": 2000, "step_time_s": 0.6, "method": "timestamps"},
    ),
    "boosting": (
        lines(lambda i: f"{10 * i}:\tlearn: {loss(i):.7f}\ttest: 0.62\ttotal: {1.2 * i:.3g}s\tremaining: 1m {50 - i}s"),
        {"step": 400, "step_time_s": 0.12},
    ),
    "boosting by messages": (
        lines(lambda i: f"[Boost] [Info] {i * 0.25:.6f} seconds elapsed, finished iteration {i}"),
        {"step": 40, "step_time_s": 0.25},
    ),
    "columns": (
        lines(
            lambda i: f"{i}           {600 * i}         {loss(i):.6f}    0.2                   {30.0 * i:.3f}       ",
            head=["epoch       iteration   main/loss   validation/main/loss  elapsed_time"],
        ),
        {"step": 24000, "step_time_s": 0.05, "loss": 2.2},
    ),
    "stamped rows": (
        lines(
            lambda i: f"{clock(2.0 * i)[:19]},{i},{loss(i):.4f},0.001,128.0",
            head=["timestamp,step,train_loss,lr,samples_per_sec"],
        ),
        {"step": 40, "step_time_s": 2.0, "throughput": 128.0, "loss": 2.2},
    ),
    "piped rows": (
        lines(
            lambda i: f"| {i:5} | {50 * i:6} | {loss(i):8.4f} | {0.33:8.3f} |",
            head=["| epoch |   step |     loss | sec/step |", "|-------|--------|----------|----------|"],
        ),
        {"step": 2000, "step_time_s": 0.33, "loss": 2.2},
    ),
    "wide columns": (
        lines(
            lambda i: f"  {i // 10}     {200 * i:5}         {100 - i:.2f}   {loss(i):.2f}   71.20",
            head=["E    #       LOSS TOK2VEC  LOSS NER  SCORE ", "---  ------  ------------  --------  ------"],
        ),
        {"step": 8000, "step_time_s": None},
    ),
    "episodes": (
        lines(lambda i: f"{i * 1.5:.6f},200,{i * 4.0:.6f}", head=['#{"t_start": 1.9e9, "env_id": "Cart"}', "r,l,t"]),
        {"throughput": 50.0, "throughput_unit": "samples/s", "step_time_s": None},
    ),
    "unix time": (
        lines(lambda i: f'{{"_timestamp": {1.9e9 + 14 * i:.4f}, "_step": {20 * i}, "train/loss": {loss(i):.4f}}}'),
        {"step": 800, "step_time_s": 0.7, "loss": 2.2},
    ),
    "thousands a second": (
        lines(
            lambda i: (
                f"Epoch 3/3:  {i}%|#  | {i * 0.064:.2f}k/3.84k [00:{i // 2:02}<00:09, 1.24kimg/s, train_loss={loss(i):.2f}]\r"
            )
        ),
        {"throughput": 1240.0, "throughput_unit": "samples/s", "step_time_s": None, "loss": 2.2},
    ),
    "a rate of floating-point operations": (
        lines(
            lambda i: (
                f" iteration {i}/ 900 | elapsed time per iteration (ms): 2310.4 | throughput per GPU (TFLOP/s/GPU): 401.2 | lm loss: 2.2"
            )
        ),
        {"step": 40, "step_time_s": 2.3104, "throughput": None},
    ),
    "a counter called time": (
        lines(lambda i: f"step {i} train time/batch: {i} loss {loss(i):.3f}"),
        {"step": 40, "step_time_s": None},
    ),
    "a bar without an end": (
        lines(
            lambda i: (
                f"Epoch 2: |          | {16 * i}/? [00:{i:02}<00:00, 16.00it/s, v_num=0, train_loss={loss(i):.3f}]\r"
            )
        ),
        {"step": 640, "step_time_s": 0.0625, "loss": 2.2},
    ),
    "a bar that only counts": (
        lines(lambda i: f"train: {16 * i}it [00:{i:02}, 16.00it/s, loss={loss(i):.3f}]\r"),
        {"step": 640, "step_time_s": 0.0625, "loss": 2.2},
    ),
    "a number before each line": (
        lines(
            lambda i: (
                f" {i}: {loss(i) + 0.1:.6f}, {loss(i):.6f} avg loss, 0.001000 rate, 2.{500 + i} seconds, {64 * i} images"
            )
        ),
        {"step": 40, "step_time_s": 2.53, "loss": 2.2},
    ),
    "an epoch's time": (
        lines(
            lambda i: f"{i - 1}         {loss(i):.6f}    0.9         0.71      00:12     ",
            head=["epoch     train_loss  valid_loss  accuracy  time    "],
        ),
        {"step_time_s": None, "throughput": None, "loss": 2.2},
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_of_more_formats(name: str) -> None:
    expect_however_cut(*FORMATS[name])


def test_ranks_that_interleave_are_one_job() -> None:
    made = [
        f"{rank}: step {10 * i} loss 2.0 dt {500 + 40 * rank}ms {1000 + rank} tokens/s"
        for i in range(1, 40)
        for rank in (1, 0, 3, 2)
    ]
    metric, state = track(made)
    assert metric is not None
    assert (metric.step, metric.reports) == (390, 20)
    assert metric.throughput == pytest.approx(4006)
    assert state.window[-1].ranks.keys() == {0, 2, 3}


def test_a_speed_that_all_ranks_print_alike_is_of_the_job() -> None:
    metric, _ = track(
        [f"[rank{rank}]: step {i} loss 2.0 dt 0.5s 4000 tokens/s" for i in range(40) for rank in range(4)]
    )
    assert metric is not None
    assert metric.throughput == 4000


def test_a_reading_that_contradicts_arrival_is_dropped() -> None:
    made = [f"step {i} loss 1.0 step_time: 0.004 s" for i in range(40)]
    metric, _ = track(made, times=[1e9 + 2.0 * i for i in range(40)])
    assert metric is not None
    assert (metric.method, metric.step_time_s) == ("arrival", pytest.approx(2.0))


def test_a_burst_of_lines_contradicts_nothing() -> None:
    made = [f"step {i} loss 1.0 step_time: 0.4 s" for i in range(40)]
    metric, _ = track(made, times=[1e9 + 2e-5 * i for i in range(40)])
    assert metric is not None
    assert (metric.method, metric.step_time_s) == ("stated", 0.4)


def test_lines_that_arrive_in_pairs() -> None:
    metric, _ = track(
        [f"step {i} loss 1.0" for i in range(40)], times=[1e9 + i // 2 * 1.0 + i % 2 * 0.1 for i in range(40)]
    )
    assert metric is not None
    assert metric.step_time_s == pytest.approx(0.5, rel=0.05)
