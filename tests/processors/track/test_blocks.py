"""Reports that spread over several lines, under headings, and beside times of parts: written here."""

import pytest

from .expecting import clock, expect_however_cut, track
from .test_formats import lines, loss


def _evaluated(heading: str) -> list[str]:
    """Return bars of two epochs, each with one of an evaluation under `heading`."""
    made = []
    for epoch in range(2):
        made += ["## training begins ##", "\r0it [00:00, ?it/s]"]
        made += [f"\r {2 * k}%|##  | {k}/50 [00:{k // 4:02}<00:10,  4.00it/s]" for k in range(1, 51)]
        made += [f"Epoch {epoch} finished.", f"\tLoss_Mean/train_part/stream = {loss(40):.4f}"]
        made += [heading, "\r0it [00:00, ?it/s]"]
        made += [f"\r {20 * k}%|##  | {k}/5 [00:00<00:00, 410.00it/s]" for k in range(1, 6)]
        made += ["> done.", "\tLoss_Mean/eval_part/stream = 7.1250"]
    return made


FORMATS: dict[str, tuple[list[str], dict[str, object]]] = {
    "generations": (
        lines(
            lambda i: [
                f" ====== Running generation {i} ====== ",
                "",
                f"Mean fitness: {2 + i / 100:.4f} spread: 0.31",
                f"Generation time: {2.5 + i % 3 / 100:.3f} sec (2.512 average)",
            ]
        ),
        {"step": 40, "step_time_s": 2.51},
    ),
    "a rate over several windows": (
        lines(
            lambda i: (
                f"[{clock(5 * i)}] FPS is (10 sec: 128.0, 60 sec: 99.0, 300 sec: 80.0). Total num frames: {640 * i}. Lag: 0.0"
            )
        ),
        {"step": 25600, "throughput": 128.0},
    ),
    "an epoch before a colon, behind the name of a node": (
        lines(
            lambda i: (
                f"[gpu7] {clock(10 * i)} (loop:81) INFO: {1 + i // 2}epoch:train:{1 + i % 2 * 40}-{40 + i % 2 * 40}batch:"
                f" optim_step_time=0.19, loss={loss(i):.3f}"
            )
        ),
        {"step": 40, "epoch": 21.0, "loss": 2.2, "step_time_s": 0.25},
    ),
    "epochs in brackets": (
        lines(lambda i: f"INFO:fit:[{10 * i} epochs]: TRAIN:[loss={loss(i):.4f}]"),
        {"epoch": 400.0, "step": None, "loss": 2.2},
    ),
    "a bar of four lines with rows of a table between": (
        [
            "epoch       iteration   main/loss   lr          elapsed_time",
            *lines(
                lambda i: [
                    *([f"\x1b[4A\x1b[J{i // 20:<12}{5 * i:<12}{loss(i):<24.4f}{i * 1.25:.3f}"] if i % 5 == 0 else []),
                    "\x1b[J     total [######............................................] 12.00%",
                    "this epoch [#########################.........................] 50.00%",
                    f"{5 * i:10} iter, {i // 20} epoch / 9 epochs",
                    "     4.000 iters/sec. Estimated time to finish: 0:00:10.5",
                ]
            ),
        ],
        {"step": 200, "step_time_s": 0.25, "loss": 2.2},
    ),
    "times of parts of the loss": (
        [
            *lines(lambda i: f"step {i} loss {loss(i):.4f}"),
            "  calculate_losses: 0.1712",
            "  setup: 0.0002, losses_postprocess: 0.0103, tail: 0.0611",
            "    losses_init: 0.0003, head: 0.02, compute_loss: 0.0441",
        ],
        {"step": 40, "loss": 2.2},
    ),
    "an evaluation between dashes": (
        _evaluated("-- Starting eval of part 1 on the held-out stream --"),
        {"step": 50, "step_time_s": 0.25, "loss": 2.2},
    ),
    "an evaluation between stars": (
        _evaluated("***** Running Evaluation *****"),
        {"step": 50, "step_time_s": 0.25, "loss": 2.2},
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_blocks(name: str) -> None:
    expect_however_cut(*FORMATS[name])


def test_the_time_of_a_part_alone_is_not_that_of_a_step() -> None:
    metric, _ = track(lines(lambda i: f"step {10 * i}: loss {loss(i):.4f}, optim_step_time: 0.108"))
    assert metric is not None
    assert metric.step == 400
    assert metric.step_time_s is None


def test_the_time_of_a_generation_is_a_part_where_steps_are_counted() -> None:
    metric, _ = track(lines(lambda i: f"step {i}: reward {i / 10:.2f}, kl 0.01, generation time: 12.5 s"))
    assert metric is None or metric.step_time_s is None
