"""Chainer: the table of its print report, and its bar."""

import sys

import chainer
import numpy as np
from chainer import training
from chainer.training import extensions
from clock import Clock

SETUPS = ("print_report_iterations", "print_report_epochs")
BATCH, BATCHES, EPOCHS = 16, 50, 4


class Network(chainer.Chain):  # type: ignore[misc]
    """The classifier."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.first, self.second = chainer.links.Linear(16, 32), chainer.links.Linear(32, 2)

    def forward(self, points: np.ndarray) -> chainer.Variable:
        return self.second(chainer.functions.relu(self.first(points)))


def train(setup: str) -> None:
    interval = 10 if setup == "print_report_iterations" else BATCHES
    clock = Clock(pace=0.05, batch=BATCH, interval=interval)
    random = np.random.default_rng(0)
    points = random.normal(size=(BATCH * BATCHES, 16)).astype("float32")
    labels = (points[:, 0] * points[:, 1] > 0).astype("int32")
    model = chainer.links.Classifier(Network())
    optimiser = chainer.optimizers.Adam()
    optimiser.setup(model)
    updater = training.StandardUpdater(
        chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(points, labels), BATCH), optimiser
    )
    trainer = training.Trainer(updater, (EPOCHS if setup == "print_report_iterations" else 12, "epoch"), out="out")
    inner = updater.update

    def clocked() -> None:
        inner()
        clock.step()

    updater.update = clocked
    trigger = (interval, "iteration")
    report = extensions.LogReport(trigger=trigger, filename=None)
    trainer.extend(report)
    trainer.extend(
        extensions.PrintReport(["epoch", "iteration", "main/loss", "main/accuracy", "elapsed_time"]), trigger=trigger
    )
    clock.begin()
    trainer.run()
    clock.finish(step=clock.steps, loss=report.log[-1]["main/loss"])


if __name__ == "__main__":
    train(sys.argv[1])
