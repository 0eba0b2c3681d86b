"""MMCV's old runners: a line of some iterations, by epoch or by iteration, with what is left and what was meant."""

import sys

import torch
import toy
from clock import Clock
from clock_torch import clock_optimizers
from mmcv.runner import EpochBasedRunner, Hook, IterBasedRunner
from mmcv.utils import get_logger

SETUPS = ("by_epoch", "by_epoch_validation", "by_iteration")
BATCH, BATCHES, EPOCHS, INTERVAL = 16, 40, 4, 10


class Model(torch.nn.Module):
    """The classifier, with the steps that runners call."""

    def __init__(self, losses: list[float]) -> None:
        super().__init__()
        self.inner, self.losses = toy.model(), losses

    def train_step(self, data: list[torch.Tensor], *_: object, **__: object) -> dict:  # type: ignore[type-arg]
        found = self.val_step(data)
        self.losses.append(found["loss"].item())
        return found

    def val_step(self, data: list[torch.Tensor], *_: object, **__: object) -> dict:  # type: ignore[type-arg]
        points, labels = data
        found = self.inner(points)
        loss = torch.nn.functional.cross_entropy(found, labels)
        right = (found.argmax(1) == labels).float().mean().item()
        return {"loss": loss, "log_vars": {"loss": loss.item(), "acc": right}, "num_samples": len(points)}


class Began(Hook):  # type: ignore[misc]
    """Begins a step where an epoch of training does."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def before_train_epoch(self, _: object) -> None:
        self.clock.begin()


def train(setup: str) -> None:
    clock = Clock(pace=0.06, batch=BATCH, interval=INTERVAL)
    clock_optimizers(clock)
    losses: list[float] = []
    model = Model(losses)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    common = {"optimizer": optimizer, "work_dir": "out", "logger": get_logger("mmcv")}
    by_iteration = setup == "by_iteration"
    runner = (
        IterBasedRunner(model, **common, max_iters=BATCHES * EPOCHS)
        if by_iteration
        else EpochBasedRunner(model, **common, max_epochs=EPOCHS)
    )
    hooks = [{"type": "TextLoggerHook", "by_epoch": not by_iteration}]
    runner.register_training_hooks(
        {"policy": "step", "step": [2], "by_epoch": not by_iteration},
        {"grad_clip": None},
        {"interval": BATCHES * EPOCHS, "by_epoch": not by_iteration},
        {"interval": INTERVAL, "hooks": hooks},
    )
    runner.register_hook(Began(clock), priority="VERY_HIGH")
    clock.begin()
    loaders, flow = [toy.loader(BATCH * BATCHES, BATCH)], [("train", 1)]
    if "validation" in setup:
        loaders.append(toy.loader(BATCH * 6, BATCH))
        flow.append(("val", 1))
    runner.run(loaders, flow)
    clock.finish(step=[BATCHES, clock.steps], loss=sum(losses[-INTERVAL:]) / INTERVAL)


if __name__ == "__main__":
    train(sys.argv[1])
