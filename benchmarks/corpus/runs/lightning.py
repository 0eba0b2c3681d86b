"""Lightning: its bars of tqdm and of rich, and loggers of text."""

import logging
import sys
import warnings

import lightning
import torch
import toy
from clock import Clock
from lightning.pytorch.callbacks import Callback, RichProgressBar, TQDMProgressBar

SETUPS = ("bar", "bar_validation", "rich_terminal", "refresh_10_accumulate", "log_every_print", "resumed")
BATCH, BATCHES, EPOCHS = 16, 50, 3


class Module(lightning.LightningModule):
    """The classifier."""

    def __init__(self, on_bar: bool) -> None:
        super().__init__()
        self.model, self.on_bar = toy.model(), on_bar

    def training_step(self, batch: list[torch.Tensor], index: int) -> torch.Tensor:
        del index
        loss = torch.nn.functional.cross_entropy(self.model(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=self.on_bar)
        return loss

    def validation_step(self, batch: list[torch.Tensor], index: int) -> None:
        del index
        loss = torch.nn.functional.cross_entropy(self.model(batch[0]), batch[1])
        self.log("val_loss", loss, prog_bar=True)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=3e-3)


class Hook(Callback):
    """Clocks batches; prints where the set-up wants it."""

    def __init__(self, clock: Clock, printing: bool) -> None:
        self.clock, self.printing = clock, printing

    def on_train_start(self, trainer: lightning.Trainer, module: Module) -> None:
        del trainer, module
        self.clock.begin()

    def on_train_batch_end(
        self, trainer: lightning.Trainer, module: Module, outputs: dict, batch: object, index: int
    ) -> None:  # type: ignore[type-arg]
        del module, batch
        self.clock.step(outputs["loss"].item())
        if self.printing and (index + 1) % self.clock.interval == 0:
            logging.getLogger("trainer").info(
                "epoch=%d global_step=%d train_loss=%.4f",
                trainer.current_epoch,
                trainer.global_step,
                outputs["loss"].item(),
            )

    def on_validation_end(self, trainer: lightning.Trainer, module: Module) -> None:
        del trainer, module
        self.clock.begin()


def train(setup: str) -> None:
    warnings.filterwarnings("ignore", ".*torch.jit.*")
    interval = 10 if setup in ("log_every_print", "refresh_10_accumulate") else 1
    clock = Clock(pace=0.05, batch=BATCH, interval=interval, slow_start=2.0 if setup == "bar_validation" else 0.0)
    callbacks: list[Callback] = [Hook(clock, setup == "log_every_print")]
    if setup == "rich_terminal":
        callbacks.append(RichProgressBar())
    elif setup != "log_every_print":
        callbacks.append(TQDMProgressBar(refresh_rate=interval))
    if setup == "log_every_print":
        logging.basicConfig(format="[%(asctime)s][%(name)s][%(levelname)s] - %(message)s", level=logging.INFO)
    options = {
        "accelerator": "cpu",
        "logger": False,
        "callbacks": callbacks,
        "accumulate_grad_batches": 5 if setup == "refresh_10_accumulate" else 1,
        "enable_progress_bar": setup != "log_every_print",
        "enable_checkpointing": setup == "resumed",
        "num_sanity_val_steps": 2,
    }
    loader = toy.loader(BATCH * BATCHES, BATCH)
    checks = toy.loader(BATCH * 10, BATCH) if setup == "bar_validation" else None
    module = Module(on_bar=True)
    if setup == "resumed":
        earlier = lightning.Trainer(max_epochs=1, **(options | {"callbacks": [], "enable_progress_bar": False}))
        earlier.fit(module, loader)
        earlier.save_checkpoint("last.ckpt")
    trainer = lightning.Trainer(max_epochs=EPOCHS, **options)
    trainer.fit(module, loader, checks, ckpt_path="last.ckpt" if setup == "resumed" else None)
    last = trainer.callback_metrics["train_loss"].item()
    clock.finish(step=[BATCHES, trainer.global_step, clock.steps], loss=last, speed=True)


if __name__ == "__main__":
    train(sys.argv[1])
