"""GluonTS: a forecaster, whose bars know no total; on a terminal it draws none."""

import sys

import numpy as np
from clock import Clock
from gluonts.dataset.common import ListDataset
from gluonts.torch import SimpleFeedForwardEstimator
from lightning.pytorch.callbacks import Callback

SETUPS = ("bar", "checkpoints_only")
BATCH, BATCHES, EPOCHS = 16, 50, 3


class Hook(Callback):
    """Clocks batches."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_train_epoch_start(self, trainer: object, module: object) -> None:
        del trainer, module
        self.clock.begin()

    def on_train_batch_end(self, trainer: object, module: object, outputs: dict, batch: object, index: int) -> None:  # type: ignore[type-arg]
        del trainer, module, batch, index
        self.clock.step(outputs["loss"].item())


def train(setup: str) -> None:
    random = np.random.default_rng(0)
    series = [{"start": "2020-01-01", "target": random.normal(size=200).cumsum()} for _ in range(20)]
    clock = Clock(pace=0.06, batch=BATCH)
    estimator = SimpleFeedForwardEstimator(
        prediction_length=8,
        batch_size=BATCH,
        num_batches_per_epoch=BATCHES,
        trainer_kwargs={"max_epochs": EPOCHS, "accelerator": "cpu", "callbacks": [Hook(clock)]},
    )
    estimator.train(ListDataset(series, freq="D"))
    mean = sum(clock.losses[-BATCHES:]) / BATCHES
    unsaid = ["step", "loss"] if setup == "checkpoints_only" else []
    clock.finish(step=[BATCHES, clock.steps], loss=[clock.losses[-1], mean], speed=not unsaid, unsaid=unsaid)


if __name__ == "__main__":
    train(sys.argv[1])
