"""PyTorch-accelerated: what it prints around its bars of epochs, and without them."""

import sys

import torch
import toy
from clock import Clock
from pytorch_accelerated.callbacks import ProgressBarCallback, TrainerCallback
from pytorch_accelerated.trainer import DEFAULT_CALLBACKS, Trainer

SETUPS = ("bars_evaluation", "prints_only")
BATCH, BATCHES, EPOCHS = 16, 40, 5


class Hook(TrainerCallback):  # type: ignore[misc]
    """Clocks batches."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_train_epoch_start(self, trainer: object, **_: object) -> None:
        del trainer
        self.clock.begin()

    def on_train_step_end(self, trainer: object, batch_output: dict, **_: object) -> None:  # type: ignore[type-arg]
        del trainer
        self.clock.step(batch_output["loss"].item())


def train(setup: str) -> None:
    bars = setup == "bars_evaluation"
    clock = Clock(pace=0.05, batch=BATCH, interval=1 if bars else BATCHES)
    model = toy.model()
    chosen = [each for each in DEFAULT_CALLBACKS if bars or each is not ProgressBarCallback]
    trainer = Trainer(
        model,
        torch.nn.functional.cross_entropy,
        torch.optim.Adam(model.parameters(), lr=0.003),
        callbacks=(Hook(clock), *chosen),
    )
    trainer.train(
        train_dataset=toy.dataset(BATCH * BATCHES),
        eval_dataset=toy.dataset(BATCH * 8) if bars else None,
        num_epochs=EPOCHS,
        per_device_batch_size=BATCH,
        train_dataloader_kwargs={"num_workers": 0},
        eval_dataloader_kwargs={"num_workers": 0},
    )
    loss = trainer.run_history.get_latest_metric("train_loss_epoch")
    clock.finish(step=[BATCHES, clock.steps] if bars else None, loss=loss, speed=bars)


if __name__ == "__main__":
    train(sys.argv[1])
