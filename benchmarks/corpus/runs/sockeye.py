"""Sockeye: its speedometer's fields behind tabs, and a line a metric at each checkpoint."""

import random
import sys
from pathlib import Path

import torch
from clock import Clock
from clock_torch import clock_optimizers
from sockeye import constants
from sockeye import train as program

SETUPS = ("speedometer", "checkpoints")
WORDS = ["red", "old", "loud", "tree", "river", "train", "sees", "makes", "again", "never"]
BATCH, LENGTH, UPDATES = 8, 9, 300


def train(setup: str) -> None:
    chooser = random.Random(0)
    for name, count in (("train", 800), ("dev", 16)):
        rows = [" ".join(chooser.choices(WORDS, k=LENGTH)) for _ in range(count)]
        Path(f"{name}.en").write_text("\n".join(rows) + "\n")
        Path(f"{name}.de").write_text("\n".join(row.upper() for row in rows) + "\n")
    interval, every = (20, 100) if setup == "speedometer" else (50, 50)
    constants.MEASURE_SPEED_EVERY = interval
    torch.set_num_threads(1)
    # Its tokens are those of both sides: the source with an end, the target with a beginning and an end.
    clock = Clock(pace=0.05, batch=BATCH, tokens=BATCH * (2 * LENGTH + 3), interval=interval)
    clock_optimizers(clock)
    sys.argv = [
        "sockeye-train",
        *("--source", "train.en", "--target", "train.de", "--validation-source", "dev.en", "--validation-target"),
        *("dev.de", "--output", "out", "--use-cpu", "--batch-type", "sentence", "--batch-size", str(BATCH)),
        *("--num-layers", "1", "--transformer-model-size", "16", "--transformer-attention-heads", "2"),
        *("--transformer-feed-forward-num-hidden", "16", "--max-seq-len", "20", "--max-updates", str(UPDATES)),
        *("--checkpoint-interval", str(every), "--decode-and-evaluate", "0", "--initial-learning-rate", "0.002"),
        *("--bucket-width", "10", "--no-bucketing", "--seed", "1", "--optimizer", "adam"),
    ]
    program.main()
    clock.finish(step=[UPDATES], loss=None)


if __name__ == "__main__":
    train(sys.argv[1])
