"""Coqui's trainer: blocks of a head line and one line a number, in bold, with running means in brackets."""

import sys
from dataclasses import dataclass

import torch
import toy
from clock import Clock
from trainer import Trainer, TrainerArgs, TrainerConfig, TrainerModel

SETUPS = ("blocks", "blocks_evaluation_accumulation")
BATCH, BATCHES, EPOCHS, INTERVAL = 16, 40, 3, 5


@dataclass
class Settings(TrainerConfig):
    """Nothing of our own."""


class Model(TrainerModel):
    """The classifier. It clocks batches where the trainer takes their time."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.inner, self.clock = toy.model(), clock

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        return self.inner(points)  # type: ignore[no-any-return]

    def format_batch(self, batch: list[torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"points": batch[0], "labels": batch[1]}

    def train_step(self, batch: dict[str, torch.Tensor], criterion: torch.nn.Module) -> tuple[dict, dict]:  # type: ignore[type-arg]
        found = self.eval_step(batch, criterion)
        self.clock.step()
        return found

    def eval_step(self, batch: dict[str, torch.Tensor], criterion: torch.nn.Module) -> tuple[dict, dict]:  # type: ignore[type-arg]
        found = self(batch["points"])
        return {"model_outputs": found}, {"loss": criterion(found, batch["labels"])}

    @staticmethod
    def get_criterion() -> torch.nn.Module:
        return torch.nn.CrossEntropyLoss()

    def get_data_loader(self, *, is_eval: bool, **_: object) -> object:
        return toy.loader(BATCH * (4 if is_eval else BATCHES), BATCH)


def train(setup: str) -> None:
    micro = 2 if "accumulation" in setup else 1
    clock = Clock(pace=0.05, batch=BATCH, interval=INTERVAL * micro)
    settings = Settings(
        epochs=EPOCHS,
        batch_size=BATCH,
        print_step=INTERVAL * micro,
        run_eval="evaluation" in setup,
        save_checkpoints=False,
        save_step=100_000,
        lr=0.003,
        optimizer="Adam",
    )
    trainer = Trainer(TrainerArgs(grad_accum_steps=micro), settings, output_path="out", model=Model(clock))
    told: dict[str, list[float]] = {}
    inner = trainer.c_logger.print_train_step

    def noted(batches: int, step: int, all_steps: int, losses: dict, means: dict) -> None:  # type: ignore[type-arg]
        inner(batches, step, all_steps, losses, means)
        told["step"], told["loss"] = [step, all_steps], [losses["loss"], means["avg_loss"]]

    trainer.c_logger.print_train_step = noted
    begin = trainer.callbacks.on_train_epoch_start
    trainer.callbacks.on_train_epoch_start = lambda each: (clock.begin(), begin(each))
    trainer.fit()
    clock.finish(step=told["step"], loss=told["loss"], larger=[micro] if micro > 1 else [])


if __name__ == "__main__":
    train(sys.argv[1])
