"""fastai: a table of epochs, with and without its bars."""

import sys

import torch
import toy
from clock import Clock
from fastai.callback.core import Callback
from fastai.callback.progress import ProgressCallback
from fastai.data.core import DataLoaders
from fastai.learner import Learner
from fastai.metrics import accuracy

SETUPS = ("table_no_bar", "bars_terminal")
BATCH, BATCHES, EPOCHS = 16, 30, 5


class Hook(Callback):
    """Clocks batches."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def before_train(self) -> None:
        self.clock.begin()

    def after_batch(self) -> None:
        if self.training:
            self.clock.step(self.loss.item())


def train(setup: str) -> None:
    clock = Clock(pace=0.05, batch=BATCH, interval=BATCHES)
    loaders = DataLoaders(toy.loader(BATCH * BATCHES, BATCH), toy.loader(BATCH * 8, BATCH))
    learner = Learner(
        loaders, toy.model(), loss_func=torch.nn.functional.cross_entropy, metrics=accuracy, cbs=Hook(clock)
    )
    assert ProgressCallback  # without this import, learners have neither bars nor `no_bar`
    if setup == "table_no_bar":
        with learner.no_bar():
            learner.fit(EPOCHS, 1e-3)
    else:
        learner.fit(EPOCHS, 1e-3)
    clock.finish(
        step=None if setup == "table_no_bar" else [BATCHES, clock.steps],
        loss=[learner.recorder.values[-1][0]],
        speed=setup != "table_no_bar",
        unsaid=["loss"] if setup == "table_no_bar" else [],
    )


if __name__ == "__main__":
    train(sys.argv[1])
