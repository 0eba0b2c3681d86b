"""skorch: a table of epochs that is drawn row by row."""

import sys

import torch
import toy
from clock import Clock
from skorch import NeuralNetClassifier
from skorch.callbacks import Callback

SETUPS = ("table_validation", "table_train_only")
BATCH, BATCHES, EPOCHS = 16, 8, 30


class Hook(Callback):
    """Clocks batches of training."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_epoch_begin(self, net: object, **_: object) -> None:
        del net
        self.clock.begin()

    def on_batch_end(self, net: object, *, training: bool, **_: object) -> None:
        del net
        if training:
            self.clock.step()


def train(setup: str) -> None:
    clock = Clock(pace=0.025, batch=BATCH, interval=BATCHES)
    points, labels = toy.dataset(BATCH * BATCHES if setup == "table_train_only" else BATCH * BATCHES * 5 // 4).tensors
    split = {"train_split": None} if setup == "table_train_only" else {}
    net = NeuralNetClassifier(
        toy.model(),
        criterion=torch.nn.CrossEntropyLoss,
        lr=0.05,
        batch_size=BATCH,
        max_epochs=EPOCHS,
        callbacks=[("hook", Hook(clock))],
        **split,
    )
    net.fit(points.numpy(), labels.numpy())
    truth = [net.history[-1]["train_loss"]]
    # Neither batches nor their number is told: the time of an epoch is not that of a step.
    clock.finish(step=None, loss=truth, speed=False)


if __name__ == "__main__":
    train(sys.argv[1])
