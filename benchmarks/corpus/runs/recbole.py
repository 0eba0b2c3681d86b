"""RecBole: its log of epochs with their time and loss, after bars of batches, and of evaluations."""

import random
import sys
from pathlib import Path

import torch
from clock import Clock
from clock_torch import clock_optimizers
from recbole.quick_start import run_recbole
from recbole.trainer import Trainer

SETUPS = ("bars", "log_only")
BATCH, EPOCHS = 64, 6


def train(setup: str) -> None:
    chooser = random.Random(0)
    rows = sorted({(chooser.randrange(60), chooser.randrange(80)) for _ in range(2400)})
    Path("data/made").mkdir(parents=True)
    lines = [f"{user}\t{item}\t5\t{at}" for at, (user, item) in enumerate(rows)]
    head = "user_id:token\titem_id:token\trating:float\ttimestamp:float"
    Path("data/made/made.inter").write_text("\n".join([head, *lines]) + "\n")
    torch.set_num_threads(1)
    clock = Clock(pace=0.04, batch=BATCH)
    clock_optimizers(clock)
    epochs: list[tuple[int, float]] = []
    inner = Trainer._train_epoch  # noqa: SLF001

    def epoch(self: Trainer, *arguments: object, **named: object) -> float:
        clock.begin()
        before = clock.steps
        loss = inner(self, *arguments, **named)
        epochs.append((clock.steps - before, float(loss)))
        return loss

    Trainer._train_epoch = epoch  # noqa: SLF001
    sys.argv = ["recbole"]
    run_recbole(
        model="BPR",
        dataset="made",
        config_dict={
            "data_path": "data",
            "epochs": EPOCHS,
            "train_batch_size": BATCH,
            "show_progress": setup == "bars",
            "use_gpu": False,
            "gpu_id": "",
            "load_col": {"inter": ["user_id", "item_id", "rating", "timestamp"]},
            "log_wandb": False,
        },
        saved=False,
    )
    batches, loss = epochs[-1]
    clock.interval = batches
    bars = setup == "bars"
    # What it prints as the loss of an epoch is the sum of those of its batches.
    clock.finish(step=[batches, clock.steps] if bars else None, loss=loss, speed=bars)


if __name__ == "__main__":
    train(sys.argv[1])
