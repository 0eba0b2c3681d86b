"""Composer: its bar, and its log to the console."""

import sys

import torch
import toy
from clock import Clock
from composer import Callback, ComposerModel, Logger, State, Trainer
from composer.callbacks import SpeedMonitor

SETUPS = ("bar", "console_every_10")
BATCH, BATCHES, EPOCHS = 16, 40, 3


class Classifier(ComposerModel):
    """The classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = toy.model()

    def forward(self, batch: list[torch.Tensor]) -> torch.Tensor:
        return self.inner(batch[0])

    def loss(self, outputs: torch.Tensor, batch: list[torch.Tensor]) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(outputs, batch[1])


class Hook(Callback):
    """Clocks batches."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def epoch_start(self, state: State, logger: Logger) -> None:
        del state, logger
        self.clock.begin()

    def batch_end(self, state: State, logger: Logger) -> None:
        del logger
        self.clock.step(float(state.loss))


def train(setup: str) -> None:
    console = setup == "console_every_10"
    clock = Clock(pace=0.06, batch=BATCH, interval=10 if console else 1)
    model = Classifier()
    trainer = Trainer(
        model=model,
        train_dataloader=toy.loader(BATCH * BATCHES, BATCH),
        optimizers=torch.optim.Adam(model.parameters()),
        max_duration=f"{EPOCHS}ep",
        device="cpu",
        progress_bar=not console,
        log_to_console=console,
        console_log_interval="10ba",
        callbacks=[Hook(clock), *([SpeedMonitor(window_size=10)] if console else [])],
    )
    trainer.fit()
    clock.finish(step=[BATCHES, clock.steps, clock.steps - 1], loss=clock.losses[-1])


if __name__ == "__main__":
    train(sys.argv[1])
