"""Forms that can be read in more than one way: the number is null."""

import pytest

from .expecting import expect_however_cut, track
from .test_formats import lines, loss

COUNT = 40

AMBIGUOUS = {
    "micro-batches": ("step", lambda i: f"mb {i % 4 + 1}/4 loss {loss(i):.4f}"),
    "micro-batches in words": ("step", lambda i: f"micro-batch {i % 8 + 1} of 8 | loss: {loss(i):.4f}"),
    "micro-batches with a colon": ("step", lambda i: f"micro_batch: {i % 8 + 1}/8, loss: {loss(i):.4f}, 3.1 it/s"),
    "steps of accumulation": ("step", lambda i: f"accum {i % 16 + 1}/16 loss {loss(i):.4f}"),
    "the step before the epoch": ("step", lambda i: f"step/epoch {10 * i}/3 loss {loss(i):.4f}"),
    "two counters in brackets": ("step", lambda i: f"[Epoch/Batch] 3/{10 * i} loss {loss(i):.4f}"),
    "the size of a batch": ("step", lambda i: f"loss {loss(i):.4f} minibatch 32 lr 0.001"),
    "the size of a batch of each epoch": ("step", lambda i: f"epoch {i} batch: 64 loss {loss(i):.4f}"),
    "a time of one step or of all since the report before": (
        "step_time_s",
        lambda i: f"step {20 * i} loss {loss(i):.4f} took 0.37s",
    ),
    "an elapsed time of one or of many": (
        "step_time_s",
        lambda i: f"iter {10 * i}: loss {loss(i):.4f}, elapsed 0.{37 + i % 3}s",
    ),
    "a decimal comma or thousands": ("loss", lambda i: f"step {i} loss 1,{234 + i}"),
    "a decimal comma or thousands behind a sign": ("loss", lambda i: f"step={i} train_loss=2,{345 - i} lr=0.1"),
    "a step time with a decimal comma or thousands": ("step_time_s", lambda i: f"step {i} loss 0.5 step time: 1,{234 + i}"),
    "a reward that improves as a loss does": (
        "loss",
        lambda i: f"Episode: {i}, Actions: {700 + i % 9}, reward: {-30 + i % 7}, Avg. reward: {-29.9 + i / 11:.3f}",
    ),
    "a perplexity": ("loss", lambda i: f"step {10 * i} learning rate {0.5 - i / 400:.4f} perplexity {60 - i / 1.3:.2f}"),
}  # fmt: skip


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_number_that_can_be_read_in_two_ways_is_null(name: str) -> None:
    field, line = AMBIGUOUS[name]
    made = lines(line)
    for sizes in ([], [1] * len(made), [7, 1, 30]):
        metric, _ = track(made, sizes=sizes)
        assert metric is None or getattr(metric, field) is None


CERTAIN: dict[str, tuple[list[str], dict[str, object]]] = {
    "a counter of an outer loop before a bar": (
        lines(lambda i: f"Iter: 7 Training |#####     | ({10 * i}/2857) Batch: 0.032s | Loss_pi: {loss(i):.4f}"),
        {"step": 400, "step_time_s": 0.032},
    ),
    "an average loss of Darknet": (
        lines(lambda i: f"{i}: {loss(i) + 0.1:.6f}, {loss(i):.6f} avg, 0.001000 rate, 3.500000 seconds, {64 * i} images"),
        {"step": 40, "step_time_s": 3.5, "loss": 2.2},
    ),
    "two counters before their numbers": (
        lines(lambda i: f"Epoch/Iter: 3/{10 * i} loss: {loss(i):.4f}"),
        {"step": 400, "epoch": 3.0, "loss": 2.2},
    ),
    "a step between the name of a loss and a colon": (
        lines(lambda i: f"Train loss {10 * i}: {loss(i):.4f}"),
        {"step": 400, "loss": 2.2},
    ),
    "a step in brackets behind the name of a loss": (
        lines(lambda i: f"Training loss (step {10 * i}): {loss(i):.4f}"),
        {"step": 400, "loss": 2.2},
    ),
    "losses with numbers": (
        lines(lambda i: f"step {10 * i} loss 1: {loss(i):.4f} loss 2: 0.3"),
        {"step": 400, "loss": 2.2},
    ),
    "a loss between two steps": (
        lines(lambda i: f"loss between iterations {100 * i - 100} and {100 * i}: {loss(i):.4f}"),
        {"step": 4000, "loss": 2.2},
    ),
    "steps with an evaluation in each line": (
        lines(lambda i: f"[{100 * i}/9000] train loss {loss(i):.4f} val loss {loss(i) + 0.2:.4f}"),
        {"step": 4000, "epoch": None, "loss": 2.2},
    ),
    "a running average that grows": (
        lines(lambda i: f"step {10 * i} loss {loss(i):.4f} time {1.2 + i / 1000:.4f}"),
        {"step": 400, "step_time_s": 1.23},
    ),
    "a number and a colon before each line": (
        lines(lambda i: f"{i}: loss {loss(i):.4f} lr 0.01"),
        {"step": 40, "loss": 2.2},
    ),
    "lists in cells between tabs": (
        [
            "steps\tepisodes\telapsed\taverage_v\taverage_loss",
            *lines(lambda i: f"{500 * i}\t{3 * i}\t{5.0 * i:.3f}\t[{'- '[i % 2]}1.25]\t{loss(i):.4f}"),
        ],
        {"step": 20000, "step_time_s": 0.01, "loss": 2.2},
    ),
    "a table with the name of the program at the margin": (
        [
            line
            for i in range(1, COUNT + 1)
            for line in (
                f"{'Step (% Done)':<20}{'Train Iter (time)':<21}{'Train Rays / Sec':<41}console.py:604",
                f"{'-' * 83:<99}console.py:554",
                f"{f'{50 * i} ({i / 2:.2f}%)':<20}{f'4{i % 3}.250 ms':<21}{f'{2 + i % 2}.25 M':<41}console.py:566",
            )
        ],
        {"step": 2000, "step_time_s": 0.04125, "throughput": 2.75e6},
    ),
    "the name of a function and a line number before the message": (
        lines(lambda i: f"2025-11-25 03:{i:02}:00.250 | INFO     | lib.core.loop:after_iter:238 - iter: {10 * i}/900, loss: {loss(i):.4f}"),
        {"step": 400, "step_time_s": 6.0, "loss": 2.2},
    ),
    "averages of a loss and of its parts": (
        [
            line
            for i in range(1, COUNT + 1)
            for line in (f"({200 * i}/9000) average neg_loss: 0.{i}", f"({200 * i}/9000) average loss: {loss(i):.4f}")
        ],
        {"step": 8000, "loss": 2.2},
    ),
    "a step among micro-batches": (
        [line for s in range(1, COUNT + 1) for line in (f"mb {s % 4}/4 loss {loss(s):.4f}", f"step {s} loss {loss(s):.4f}")],
        {"step": 40, "loss": 2.2},
    ),
    "minibatches that count": (lines(lambda i: f"minibatch {i}: loss {loss(i):.4f}"), {"step": 40, "loss": 2.2}),
    "a comma after zero": (lines(lambda i: f"step {i} loss 0,{500 - i} step time: 0,37"), {"loss": 0.46, "step_time_s": 0.37}),
    "thousands in a rate": (lines(lambda i: f"step {i} loss {loss(i):.3f} 1,{200 + i % 3} tok/s"), {"throughput": 1201.0}),
    "so many steps in a time": (
        lines(lambda i: f"Iteration {50 * i}, loss {loss(i):.4f}, 50 iterations in 1.{10 + i % 3} sec"),
        {"step": 2000, "step_time_s": 0.0222},
    ),
    "the time since the last report": (
        lines(lambda i: f"step {20 * i} loss {loss(i):.4f} time since last report 7.4s"),
        {"step": 800, "step_time_s": 0.37},
    ),
    "what remains, in seconds": (
        lines(lambda i: f"Round: 2/9 Step: {5 * i}/400 ETA: {0.25 * (400 - 5 * i):.2f}s loss: {loss(i):.4f} acc: 0.5"),
        {"step": 200, "step_time_s": 0.25, "loss": 2.2},
    ),
    "what remains, as a clock": (
        lines(lambda i: f"step {30 * i}/3600 loss {loss(i):.4f} time_left: {(120 - i) // 60}:{(120 - i) % 60:02}:00"),
        {"step": 1200, "step_time_s": 2.0, "loss": 2.2},
    ),
    "losses under a header before a bar": (
        [
            "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size",
            *lines(lambda i: f"        2/2         0G    {loss(i):.5f}     0.3379    0.02477          4         64: "
                   f"{2 * i}% ━━━━━━━━━─── {i}/50 4.0it/s 2.4s<0.8s"),
        ],
        {"step": 40, "step_time_s": 0.25, "loss": 2.2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CERTAIN)
def test_numbers_of_similar_forms_are_read(name: str) -> None:
    expect_however_cut(*CERTAIN[name])
