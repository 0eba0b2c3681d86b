"""pytorch-tabnet: a line an epoch with the time since the start."""

import sys
import warnings

import numpy as np
from clock import Clock
from pytorch_tabnet.callbacks import Callback
from pytorch_tabnet.tab_model import TabNetClassifier

SETUPS = {"every_epoch": 1, "every_5_evaluation": 5}
BATCH, BATCHES, EPOCHS = 64, 5, 30


class Hook(Callback):
    """Clocks batches."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        super().__init__()

    def on_epoch_begin(self, epoch: int, logs: object = None) -> None:
        del epoch, logs
        self.clock.begin()

    def on_batch_end(self, batch: int, logs: dict | None = None) -> None:  # type: ignore[type-arg]
        del batch
        self.clock.step((logs or {}).get("loss"))


def train(setup: str) -> None:
    warnings.filterwarnings("default")
    every = SETUPS[setup]
    clock = Clock(pace=0.08, batch=BATCH, interval=BATCHES * every)
    random = np.random.default_rng(0)
    points = random.normal(size=(BATCH * BATCHES, 8)).astype("float32")
    labels = (points[:, 0] > 0).astype("int64")
    model = TabNetClassifier(n_d=4, n_a=4, n_steps=2, verbose=every, seed=0)
    more = {"eval_set": [(points[:64], labels[:64])]} if every > 1 else {}
    model.fit(
        points,
        labels,
        max_epochs=EPOCHS + 1,
        batch_size=BATCH,
        virtual_batch_size=BATCH,
        patience=0,
        callbacks=[Hook(clock)],
        **more,
    )
    last = EPOCHS // every * every
    # Neither batches nor their number is told: the time of an epoch is not that of a step.
    clock.finish(step=None, loss=model.history["loss"][last], speed=False)


if __name__ == "__main__":
    train(sys.argv[1])
