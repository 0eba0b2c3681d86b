"""Tables that a logger prints line by line, each behind its stamp, level and name: written here, in the forms that loops print."""

import pytest

from .expecting import clock, expect_however_cut
from .test_formats import lines, loss


def _behind(prefix: str, drawn: list[str]) -> list[str]:
    return [f"{prefix}{line}" for line in drawn]


BOX = "+" + "-" * 26 + "+"

FORMATS: dict[str, tuple[list[str], dict[str, object]]] = {
    "columns behind a stamp, a level and a name": (
        [
            f"{clock(0)} INFO fit:   step    loss   gnorm   ms/step   tok/s",
            *lines(lambda i: f"{clock(5 * i)} INFO fit: {20 * i:6d}  {loss(i):.4f}   0.811     250.0   32768"),
        ],
        {"step": 800, "loss": 2.2, "step_time_s": 0.25, "throughput": 32768.0},
    ),
    "columns between pipes behind a stamp": (
        [
            f"[{clock(0)}] [INFO] | Epoch | Step | Loss |",
            f"[{clock(0)}] [INFO] |-------|------|------|",
            *lines(lambda i: f"[{clock(5 * i)}] [INFO] | 2 | {20 * i:4d} | {loss(i):.4f} |"),
        ],
        {"step": 800, "loss": 2.2, "step_time_s": 0.25, "method": "timestamps"},
    ),
    "comma separated values behind a level": (
        [
            "INFO:loop:step,train_loss,sec_per_step",
            *lines(lambda i: f"INFO:loop:{20 * i},{loss(i):.4f},0.2500"),
        ],
        {"step": 800, "loss": 2.2, "step_time_s": 0.25},
    ),
    "columns that begin with counters and their ends": (
        [
            f"{clock(0)} [INFO]:   Round     Batch    box     loss    time",
            *lines(lambda i: f"{clock(5 * i)} [INFO]:     3/9    {20 * i}/900  0.0061  {loss(i):.4f}   0.2500   "),
        ],
        {"step": 800, "loss": 2.2, "step_time_s": 0.25},
    ),
    "a box of pairs behind a stamp and a name in brackets": (
        lines(
            lambda i: _behind(
                f"{clock(5 * i)} INFO [learner-3] ",
                [
                    BOX,
                    "| time/         |          |",
                    f"|    fps        | {4096:<8} |",
                    f"|    iterations | {i:<8} |",
                    f"|    total_timesteps | {20480 * i:<8} |",
                    "| train/        |          |",
                    f"|    loss       | {loss(i):<8.4f} |",
                    f"|    n_updates  | {10 * i:<8} |",
                    BOX,
                ],
            )
        ),
        {"step": 819200, "loss": 2.2, "throughput": 4096.0},
    ),
    "a counter with its end, and a line of times": (
        lines(
            lambda i: [
                f"[INFO {clock(100 * i)[11:19]}] run_it t_env: {10000 * i} / 2050000",
                (
                    f"[INFO {clock(100 * i)[11:19]}] run_it Estimated time left: {400 - i} minutes, 5 seconds. "
                    f"Time passed: {100 * i // 60} minutes, {100 * i % 60} seconds"
                ),
            ]
        ),
        {"step": 400000, "step_time_s": 0.01},
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_tables_behind_prefixes(name: str) -> None:
    expect_however_cut(*FORMATS[name])
