"""Catalyst: its runner's bar and its lines an epoch."""

import sys

import torch
import toy
from catalyst import dl
from clock import Clock

SETUPS = ("verbose_bar", "lines_an_epoch")
BATCH, BATCHES, EPOCHS = 16, 40, 3


class Hook(dl.Callback):
    """Clocks batches."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(order=1000)
        self.clock = clock

    def on_loader_start(self, runner: dl.IRunner) -> None:
        del runner
        self.clock.begin()

    def on_batch_end(self, runner: dl.IRunner) -> None:
        if runner.is_train_loader:
            self.clock.step(runner.batch_metrics["loss"].item())


def train(setup: str) -> None:
    clock = Clock(pace=0.06, batch=BATCH, interval=BATCHES if setup == "lines_an_epoch" else 1)
    model = toy.model()
    runner = dl.SupervisedRunner()
    runner.train(
        model=model,
        criterion=torch.nn.CrossEntropyLoss(),
        optimizer=torch.optim.Adam(model.parameters(), 0.003),
        loaders={"train": toy.loader(BATCH * BATCHES, BATCH), "valid": toy.loader(BATCH * 8, BATCH)},
        num_epochs=EPOCHS if setup == "verbose_bar" else 10,
        verbose=setup == "verbose_bar",
        callbacks=[Hook(clock)],
    )
    mean = sum(clock.losses[-BATCHES:]) / BATCHES
    step = [BATCHES, clock.steps] if setup == "verbose_bar" else None
    clock.finish(step=step, loss=[mean, clock.losses[-1]], speed=setup == "verbose_bar")


if __name__ == "__main__":
    train(sys.argv[1])
