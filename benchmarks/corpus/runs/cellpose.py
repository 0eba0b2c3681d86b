"""Cellpose: a line of some epochs with the time since the start, through its own logger and as warned of by others."""

import logging
import sys

import numpy as np
import torch
from cellpose import io, models
from cellpose.train import train_seg
from clock import Clock
from clock_torch import clock_optimizers

SETUPS = ("own_log", "plain_log_test_data")
IMAGES, EPOCHS = 4, 62


def discs(count: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return made-up images of discs, and their masks."""
    random = np.random.default_rng(0)
    images, masks = [], []
    grid = np.stack(np.mgrid[:64, :64])
    for _ in range(count):
        mask = np.zeros((64, 64), np.uint16)
        for number in range(1, 10):
            centre = random.integers(6, 58, (2, 1, 1))
            mask[((grid - centre) ** 2).sum(0) < 25] = number
        images.append((mask > 0) * 100 + random.normal(size=(64, 64)) * 10)
        masks.append(mask)
    return images, masks


def train(setup: str) -> None:
    torch.set_num_threads(1)
    if setup == "own_log":
        io.logger_setup()
    else:
        logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
    # An epoch is of one batch: an epoch is a step.
    clock = Clock(pace=0.15, batch=IMAGES, interval=10)
    clock_optimizers(clock)
    model = models.CellposeModel(gpu=False, pretrained_model=False, nchan=1)
    model.net.__init__(nbase=[2, 4, 8, 8, 8], nout=3, sz=3)
    images, masks = discs(IMAGES)
    test = {"test_data": images, "test_labels": masks} if "test" in setup else {}
    clock.begin()
    losses = train_seg(
        model.net,
        images,
        masks,
        channels=[0, 0],
        batch_size=IMAGES,
        n_epochs=EPOCHS,
        bsize=64,
        learning_rate=0.01,
        min_train_masks=1,
        model_name="made",
        save_every=1000,
        **test,
    )[1]
    last = (EPOCHS - 1) // 10 * 10
    # It tells of epochs only, and not of how many steps.
    loss = float(np.mean(losses[last - 9 : last + 1]))
    clock.finish(step=[last], loss=loss, speed=False, unsaid=["step"])


if __name__ == "__main__":
    train(sys.argv[1])
