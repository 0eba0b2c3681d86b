"""Times of many steps, clocks that are none, numbers that invite a wrong reading: written here, in the forms that frameworks print."""

import math

import pytest

from .expecting import clock, track
from .test_formats import lines, loss

FORMATS: dict[str, tuple[list[str], dict[str, object]]] = {
    "a time of so many steps": (
        lines(lambda i: f"[HPC][INFO]: Iter: {500 * i} Time(500 iters): {2.5 + i % 2 / 50:.4f}s Loss: {loss(i):.5f}"),
        {"step": 20000, "step_time_s": 0.00502, "loss": 2.2},
    ),
    "so many steps took": (
        lines(
            lambda i: [
                f"[worker 0]({200 * i}/9000) average neg_loss: 0.{i}",
                f"[worker 0]({200 * i}/9000) average loss: {loss(i):.3f}",
                "[worker 0] 200 steps take 7.600 seconds",
            ]
        ),
        {"step": 8000, "step_time_s": 0.038, "loss": 2.2},
    ),
    "an elapsed time of each step": (
        lines(lambda i: [f"Iteration: \t {i}", f"Loss: \t {loss(i)}", f"Elapsed time\t {90 + i % 3} seconds"]),
        {"step": 40, "step_time_s": 91.0, "loss": 2.2},
    ),
    "updates in all and since the report before": (
        lines(
            lambda i: (
                f"[ time:{20 * i}.0s total_exs:{640 * i} epochs:0.{i:02d} ] "
                f"{{'loss': {loss(i):.3f}, 'updates': {19 + i % 2}, 'total_train_updates': {20 * i}}}"
            )
        ),
        {"step": 800, "step_time_s": 1.0, "loss": 2.2},
    ),
    "step and seconds in brackets": (
        lines(lambda i: f"> [{10 * i} | {17.5 * i:.2f}] loss={loss(i):.2f} avg=2.61"),
        {"step": 400, "step_time_s": 1.75, "loss": 2.2},
    ),
    "a column of steps": (
        lines(lambda i: f"   {i:2d} 4.3{i % 3} s run, {loss(i):.4f} loss, 0.0000001 LR, 640.43 GB used"),
        {"step": 40, "step_time_s": 4.31, "loss": 2.2},
    ),
    "epoch and step at the start": (
        lines(lambda i: f"[  3]    {10 * i} || B: 3.4 | C: 2.9 || ETA: 2 days, 4:31:22 || timer: 1.3{i % 3}"),
        {"step": 400, "epoch": 3.0, "step_time_s": 1.31},
    ),
    "a step with a duration": (
        lines(
            lambda i: (
                f" [=============== {i}/90 >..............]  Tot: {i * 17 // 10}s | Step: 1s70{i % 3}ms | Loss: {loss(i):.3f}"
            )
        ),
        {"step": 40, "step_time_s": 1.701, "loss": 2.2},
    ),
    "a timer on a line of its own": (
        lines(lambda i: ["Timer: 0.6680", f"epoch:35 || iter:{10 * i} || Loss:{loss(i):.4f}"]),
        {"step": 400, "step_time_s": 0.668, "loss": 2.2},
    ),
    "an indented time": (
        lines(lambda i: [f"[epoch 1][iter {i}/900] loss: {loss(i):.4f}", "\t\t\tfg/bg=(39/217), time cost: 0.4300"]),
        {"step": 40, "step_time_s": 0.43, "loss": 2.2},
    ),
    "a message glued to a bar": (
        lines(
            lambda i: (
                f"  {i}%|#         | {10 * i}/4000 [00:{i:02d}<53:00,  3.25s/it, Loss={loss(i - 1):.3f}]"
                f"Iter {10 * i + 10}: Train loss {loss(i):.3f}, It/sec 0.300"
            )
        ),
        {"step": 410, "step_time_s": 1 / 0.3, "loss": 2.2},
    ),
    "a logger's line glued to a bar": (
        lines(
            lambda i: f" {i}%|#  | {i}/600 [00:{i // 4:02d}<01:58,  4.00it/s][{clock(i)[:19]}] ***** Running on *****"
        ),
        {"step": 40, "step_time_s": 0.25},
    ),
    "an evaluation that draws more than the training about it": (
        [
            *(f" {k}%|#####     | {k}/60 [00:{k // 8:02d}<00:04,  8.00it/s]" for k in range(1, 61)),
            "      100%|##########| 900/900 [31:30<00:00,  2.00s/it]",
            "100%|##########| 60/60 [00:07<00:00,  8.00it/s]",
            "      100%|##########| 900/900 [31:31<00:00,  2.10s/it]",
            "{'train_runtime': 1891.2, 'train_loss': 0.7331, 'epoch': 3.0}",
        ],
        {"step": 900, "step_time_s": 2.05, "loss": 0.7331},
    ),
    "reports that name the step of the bar beside them": (
        lines(
            lambda i: [
                f" {i}%|##   | {10 * i}/600 [00:{2 * i // 3:02d}<01:58,  8.00it/s]",
                f"{{'loss': {loss(i):.4f}, 'learning_rate': 4.5e-05, 'global_step': {10 * i}, 'epoch': {i / 15:.2f}}}",
            ]
        ),
        {"step": 400, "step_time_s": 0.125, "loss": 2.2},
    ),
    "a bar of each epoch": (
        lines(
            lambda i: [
                "100%|##########|80/80[00:20<00:00, 4.00it/s]",
                f"Epoch {i} (global_step {80 * i}) finished, loss: {loss(i):.3f}",
            ]
        ),
        {"step": 3200, "step_time_s": 0.25, "epoch": 40.0},
    ),
    "step and clock between dashes": (
        lines(
            lambda i: (
                f"INFO - 11/07/19 {clock(50 * i)[11:19]} - 0:{i:02d}:18 -  {100 * i} -  43.0 sent/s - MLM:  1.9930 - "
            )
        ),
        {"step": 4000, "step_time_s": 0.5, "throughput": 43.0},
    ),
    "a speed before the only step": (
        ["INFO:root:global_step/sec: 8.0", f"INFO:root:loss = {loss(1):.4f}, step = 300 (12.500 sec)"],
        {"step": 300, "step_time_s": 0.125},
    ),
    "a time of one step over many": (
        lines(lambda i: f"Avg step time over last 100 steps: 0.25{i % 3}s (step {100 * i}, loss {loss(i):.3f})"),
        {"step": 4000, "step_time_s": 0.251, "loss": 2.2},
    ),
    "a time since the report before": (
        lines(lambda i: f"step {100 * i} | loss {loss(i):.3f} | time since last log 12.3{i % 3}s"),
        {"step": 4000, "step_time_s": 0.1231, "loss": 2.2},
    ),
    "the name of a rate behind a step": (
        lines(lambda i: f"{clock(2 * i)[:19]} step {100 * i} tok/s 12,345 loss {loss(i):.3f} mfu 45%"),
        {"step": 4000, "throughput": 12345.0, "step_time_s": 0.02, "loss": 2.2},
    ),
    "a loss after so many": (
        lines(lambda i: f"Loss after {50 * i} iterations: {loss(i):.3f} (1.0{i % 3} seconds for 50 iterations)"),
        {"step": 2000, "step_time_s": 0.0202, "loss": 2.2},
    ),
    "a loss in brackets behind a time": (
        lines(lambda i: f"100 iterations in 23.1{i % 3}s (loss={loss(i):.3f}, step={100 * i})"),
        {"step": 4000, "step_time_s": 0.2311, "loss": 2.2},
    ),
    "a t of a step": (
        lines(lambda i: f'{{"it": {i}, "loss_total": {loss(i):.3f}, "t_iter": 0.8{i % 3}, "t_data": 0.1}}'),
        {"step": 40, "step_time_s": 0.81, "loss": 2.2},
    ),
    "a time that nobody would wait for": (
        lines(lambda i: f"Epoch [1/5], Step [{100 * i}/9000], Loss: {loss(i):.4f}, Time: {30 + i % 3 / 10:.1f}s"),
        {"step": 4000, "step_time_s": 0.301, "loss": 2.2},
    ),
    "seconds for a hundred it": (
        lines(lambda i: f"{100 * i}: loss {loss(i):.3f} 25.0{i % 3} s/100it"),
        {"step": 4000, "step_time_s": 0.25, "loss": 2.2},
    ),
    "a unit in brackets before a loss": (
        lines(lambda i: f"Global step: {10 * i} (5.0{i % 3} sec/step) loss: {loss(i):.4f}"),
        {"step": 400, "step_time_s": 5.01, "loss": 2.2},
    ),
    "a bar of digits alone": (
        ["0.11% [32/29603 1:19:55<1231:03:30]"],
        {"step": 32, "step_time_s": None},
    ),
    "lists in cells": (
        [
            "Step      Train loss                        Test loss                         Test metric",
            *lines(lambda i: f"{1000 * i:<9} [{loss(i):.2e}, 1.5e+00]    [3.72e-02, 1.5e+00]    []  "),
        ],
        {"step": 40000, "step_time_s": None},
    ),
    "a time that is expected": (
        lines(lambda i: f"step: {100 * i}/9000 loss:{loss(i):.3f} imps:27.5 etc:Tue Sep  7 15:{i:02d}:30 2021"),
        {"step": 4000, "throughput": 27.5, "step_time_s": None, "loss": 2.2},
    ),
    "a date over the reports": (
        lines(
            lambda i: f"(epoch: 1, iters: {100 * i}, time: 0.1{i % 3}0, data: 0.002) G_GAN: 4.1",
            head=["====== Training Loss (Sun Mar  3 01:48:34 2024) ======"],
        ),
        {"step": 4000, "step_time_s": 0.11, "loss": None},
    ),
    "a block with fields of the whole": (
        [
            "Result for trial_1:",
            "  time_this_iter_s: 1.3600",
            "  timesteps_this_iter: 32",
            "  training_iteration: 324",
        ],
        {"step": 324, "step_time_s": 1.36},
    ),
    "a drawn table": (
        [
            "| time/          |       |",
            "|    fps         | 26    |",
            "|    iterations  | 7     |",
            "| loss           | 20.1  |",
        ],
        {"step": 7, "throughput": 26.0, "loss": 20.1},
    ),
    "seconds elapsed, so many finished": (
        lines(
            lambda i: [
                f"[Tree] Iteration:{i}, training's log loss: {loss(i):.4f}",
                f"[Tree] {0.25 * i:.4f} seconds elapsed, finished {i} iteration",
            ]
        ),
        {"step": 40, "step_time_s": 0.25, "loss": 2.2},
    ),
    "an epoch, a step and rates of learning": (
        lines(lambda i: f"{clock(2 * i)[:23]} - INFO: <epoch: 8, iter: {i},{200:03d}, lr:2.5e-05> l_pix: 1.48e-03"),
        {"step": 40200, "step_time_s": 0.002},
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_intervals(name: str) -> None:
    made, expected = FORMATS[name]
    metric, _ = track(made)
    assert metric is not None
    for field, value in expected.items():
        said = getattr(metric, field)
        if isinstance(value, float) and said is not None:
            assert math.isclose(said, value, rel_tol=0.02), (field, said)
        else:
            assert said == value, field


@pytest.mark.parametrize("size", [1, 2, 100])
def test_bars_before_the_first_named_step_do_not_count(size: int) -> None:
    made = ["  5%|#    | 5/90 [00:01<00:17,  5.00it/s]", "global_step/sec: 8.0", "step = 300, loss = 2.98"]
    metric, _ = track(made, sizes=[size] * 3)
    assert metric is not None
    assert (metric.step, metric.step_time_s) == (300, 0.125)


def test_a_bar_of_an_evaluation_gives_no_speed() -> None:
    made = lines(
        lambda i: [
            f"{{'loss': {loss(i):.4f}, 'learning_rate': 4.5e-05, 'global_step': {100 * i}, 'epoch': {i / 15:.2f}}}",
            "100%|##########| 50/50 [00:01<00:00, 40.00it/s]",
        ]
    )
    metric, _ = track(made)
    assert metric is not None
    assert (metric.step, metric.step_time_s) == (4000, None)


def test_an_ended_bar_at_the_step_itself_gives_no_speed() -> None:
    metric, _ = track(["100%|##########| 50/50 [00:01<00:00, 40.00it/s]", *["Step: 50, loss: 0.5123"] * 2])
    assert metric is not None
    assert (metric.step, metric.step_time_s) == (50, None)


def bars(end: int, seconds: float) -> list[str]:
    steps = range(end // 10, end + 1, end // 10)
    return [
        f"{100 * k // end:3d}%|####      | {k}/{end} [00:{int(k * seconds):02d}<00:09, {1 / seconds:.2f}it/s]"
        for k in steps
    ]


OTHERS = {
    "bars under a heading": [
        "Starting feature extraction with 12 processes...",
        *bars(300, 0.1),
        "Decoding the predictions...",
        "Reading names: 100%|##########| 90/90 [00:00<00:00, 900.0it/s]",
        *bars(500, 0.02),
    ],
    "frames of a video": [f"[Clips] -> Original video fps: 29.9{i % 9}, rounded fps: 30" for i in range(20)],
    "serving": [
        f"Engine 0: Accepted throughput: 76.8{i % 9} tokens/s, Drafted throughput: 235.5 tokens/s" for i in range(20)
    ],
    "documents": [f"Tokenizing file {i}/100, 3200 docs/s, elapsed {i}s" for i in range(20)],
    "evaluated": ["Eval time for 681 iters: 6.449s"] * 20,
}


def test_a_training_after_an_evaluation() -> None:
    metric, _ = track(["Evaluating on the test set...", *bars(300, 0.1), *bars(500, 0.05)])
    assert metric is not None
    assert (metric.step, metric.step_time_s) == (500, pytest.approx(0.05))


def test_headings_are_remembered_from_chunk_to_chunk() -> None:
    made = ["epochs: 3", *bars(200, 0.2), "Decoding the predictions...", *bars(500, 0.02)]
    for size in (1, 3, 7, 100):
        metric, _ = track(made, sizes=[size] * 30)
        assert metric is None or (metric.step, metric.step_time_s) == (200, pytest.approx(0.2)), size


@pytest.mark.parametrize("name", OTHERS)
def test_no_numbers_are_invented(name: str) -> None:
    metric, _ = track(OTHERS[name])
    assert metric is None or (metric.step, metric.step_time_s, metric.throughput) == (None, None, None)
