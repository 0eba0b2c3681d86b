"""TorchTNT: its bar, and its logger of metrics on the screen."""

import sys

import torch
import toy
from clock import Clock
from torchtnt.framework.callbacks import TQDMProgressBar
from torchtnt.framework.state import State
from torchtnt.framework.train import train as train_tnt
from torchtnt.framework.unit import TrainUnit
from torchtnt.utils.loggers import StdoutLogger

SETUPS = ("bar", "stdout_logger")
BATCH, BATCHES, EPOCHS, INTERVAL = 16, 40, 3, 10


class Unit(TrainUnit):  # type: ignore[type-arg]
    """The classifier."""

    def __init__(self, clock: Clock, logger: StdoutLogger | None) -> None:
        super().__init__()
        self.model, self.clock, self.logger = toy.model(), clock, logger
        self.optimiser = torch.optim.Adam(self.model.parameters(), 0.003)

    def on_train_epoch_start(self, state: State) -> None:
        del state
        self.clock.begin()

    def train_step(self, state: State, data: list[torch.Tensor]) -> None:
        del state
        loss = torch.nn.functional.cross_entropy(self.model(data[0]), data[1])
        loss.backward()
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.clock.step(loss.item())
        if self.logger and self.clock.steps % INTERVAL == 0:
            self.logger.log_dict({"train_loss": loss.item(), "lr": 0.003}, self.clock.steps)


def train(setup: str) -> None:
    logging = setup == "stdout_logger"
    clock = Clock(pace=0.06, batch=BATCH, interval=INTERVAL if logging else 1)
    unit = Unit(clock, StdoutLogger() if logging else None)
    callbacks = [] if logging else [TQDMProgressBar()]
    train_tnt(unit, toy.loader(BATCH * BATCHES, BATCH), max_epochs=EPOCHS, callbacks=callbacks)
    last = clock.losses[-1]
    clock.finish(step=[BATCHES, clock.steps], loss=last if logging else None, speed=not logging)


if __name__ == "__main__":
    train(sys.argv[1])
