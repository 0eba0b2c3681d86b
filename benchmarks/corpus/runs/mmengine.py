"""MMEngine: its runner's log lines, by epochs and by iterations."""

import os
import sys

import torch
import toy
from clock import Clock
from mmengine.hooks import Hook as MMHook
from mmengine.model import BaseModel
from mmengine.runner import Runner

SETUPS = ("by_epoch", "by_iteration", "resumed")
BATCH, BATCHES, EPOCHS = 16, 50, 3


class Classifier(BaseModel):
    """The classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = toy.model()

    def forward(self, points: torch.Tensor, labels: torch.Tensor, mode: str) -> dict:  # type: ignore[type-arg]
        del mode
        return {"loss": torch.nn.functional.cross_entropy(self.inner(points), labels)}


class Hook(MMHook):
    """Clocks iterations."""

    priority = "VERY_HIGH"

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def before_train(self, runner: Runner) -> None:
        del runner
        self.clock.begin()

    def after_train_iter(
        self, runner: Runner, batch_idx: int, data_batch: object = None, outputs: dict | None = None
    ) -> None:  # type: ignore[type-arg]
        del runner, batch_idx, data_batch
        assert outputs
        self.clock.step(outputs["loss"].item())


def train(setup: str) -> None:
    os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"  # its checkpoints hold more than weights
    clock = Clock(pace=0.05, batch=BATCH, interval=10, slow_start=1.0 if setup == "by_epoch" else 0.0)
    epochs = setup != "by_iteration"
    loop = {"by_epoch": True, "max_epochs": EPOCHS} if epochs else {"by_epoch": False, "max_iters": BATCHES * EPOCHS}
    hooks = {"logger": {"type": "LoggerHook", "interval": 10, "log_metric_by_epoch": epochs}}

    def runner(hook: Clock, loop: dict, **more: object) -> Runner:  # type: ignore[type-arg]
        return Runner(
            Classifier(),
            "work",
            train_dataloader=toy.loader(BATCH * BATCHES, BATCH),
            train_cfg=loop,
            optim_wrapper={"optimizer": {"type": "SGD", "lr": 0.05}},
            default_hooks=hooks,
            custom_hooks=[Hook(hook)],
            log_processor={"by_epoch": epochs, "window_size": 10},
            log_level="INFO",
            **more,
        )

    if setup == "resumed":
        runner(Clock(pace=0.02), {"by_epoch": True, "max_epochs": 1}, experiment_name="first").train()
    runner(clock, loop, resume=setup == "resumed", experiment_name="second").train()
    steps = [BATCHES, clock.steps] if epochs else [clock.steps]
    mean = sum(clock.losses[-10:]) / 10
    clock.finish(step=steps, loss=[mean, clock.losses[-1]])


if __name__ == "__main__":
    train(sys.argv[1])
