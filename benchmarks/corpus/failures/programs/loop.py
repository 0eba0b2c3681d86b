"""A real training loop in plain Python: a linear model fitted by stochastic gradient descent, reported in several styles.

Environment variables: `START` is the first step (a resumed run), `STEPS` the number of steps, `STYLE` one of `plain`, `logging`, `json`.
"""

import json
import logging
import os
import random
import time
from collections.abc import Iterator

BATCH = 64
FEATURES = 16
TOTAL = 20_000


def _batch(chance: random.Random, truth: list[float]) -> tuple[list[list[float]], list[float]]:
    rows = [[chance.gauss(0, 1) for _ in truth] for _ in range(BATCH)]
    return rows, [sum(a * b for a, b in zip(row, truth, strict=True)) + chance.gauss(0, 0.1) for row in rows]


def _report(style: str, step: int, loss: float, rate: float, seconds: float) -> None:
    speed = BATCH / seconds
    if style == "json":
        print(
            json.dumps({"step": step, "loss": round(loss, 5), "lr": rate, "step_time_ms": round(seconds * 1e3, 3)}),
            flush=True,
        )
    elif style == "logging":
        logging.getLogger("trainer").info(
            "epoch %d step %d/%d loss %.5f lr %.2e %.3f ms/step %.1f samples/s",
            step // 1000,
            step,
            TOTAL,
            loss,
            rate,
            seconds * 1e3,
            speed,
        )
    else:
        print(
            f"step {step}/{TOTAL} | loss {loss:.5f} | lr {rate:.3e} | {seconds * 1e3:.3f} ms/step | {speed:.1f} samples/s",
            flush=True,
        )


def train(steps: int | None = None, style: str | None = None) -> Iterator[int]:
    """Train and yield each step's number after its report."""
    start, style = int(os.environ.get("START", "5000")), style or os.environ.get("STYLE", "plain")
    steps = steps or int(os.environ.get("STEPS", "24"))
    if style == "logging":
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    chance = random.Random(7)
    truth = [chance.uniform(-1, 1) for _ in range(FEATURES)]
    weights = [0.0] * FEATURES
    for step in range(start + 1, start + steps + 1):
        begun = time.perf_counter()
        rate = 0.02 / (1 + step / 10_000)
        rows, targets = _batch(chance, truth)
        errors = [
            sum(a * b for a, b in zip(row, weights, strict=True)) - y for row, y in zip(rows, targets, strict=True)
        ]
        for column in range(FEATURES):
            weights[column] -= rate * 2 / BATCH * sum(e * row[column] for e, row in zip(errors, rows, strict=True))
        loss = sum(e * e for e in errors) / BATCH
        _report(style, step, loss, rate, time.perf_counter() - begun)
        yield step


if __name__ == "__main__":
    for _ in train():
        pass
