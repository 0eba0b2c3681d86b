"""LitGPT: its pretraining's lines of iterations and steps, with and without accumulation, and its validation between."""

import os
import sys

import torch
from clock import Clock
from clock_torch import clock_optimizers
from litgpt import pretrain
from litgpt.args import EvalArgs, LogArgs, TrainArgs
from litgpt.config import Config
from litgpt.data import DataModule

SETUPS = ("every_step", "accumulation_validation")
BATCH, LENGTH, ITERATIONS = 4, 32, 160


class Made(DataModule):
    """Made-up tokens."""

    def connect(self, tokenizer: object = None, batch_size: int = 1, max_seq_length: int | None = None) -> None:
        del tokenizer, batch_size, max_seq_length
        self.rows = torch.randint(
            0, 100, (BATCH * ITERATIONS * 2, LENGTH + 1), generator=torch.Generator().manual_seed(0)
        )

    def train_dataloader(self) -> torch.utils.data.DataLoader:  # type: ignore[type-arg]
        return torch.utils.data.DataLoader(self.rows, BATCH)

    def val_dataloader(self) -> torch.utils.data.DataLoader:  # type: ignore[type-arg]
        return torch.utils.data.DataLoader(self.rows[: BATCH * 5], BATCH)


def train(setup: str) -> None:
    torch.set_num_threads(1)
    micro, interval = (4, 2) if "accumulation" in setup else (1, 1)
    # With accumulation what it calls a step is of several of its iterations; the time that it prints is of one iteration.
    clock = Clock(pace=0.06, batch=BATCH, tokens=BATCH * LENGTH, interval=interval * micro)
    if micro == 1:
        clock_optimizers(clock)
    told: dict[str, float] = {}
    inner, check = pretrain.chunked_cross_entropy, pretrain.validate

    class Mean(pretrain.RunningMean):  # type: ignore[misc]
        """Ends a step of the clock where a loop has its loss, and keeps what it prints of it."""

        def update(self, loss: torch.Tensor) -> None:
            super().update(loss)
            if micro > 1:
                clock.step(loss.item())

        def compute(self) -> torch.Tensor:
            told["loss"] = super().compute().item()
            return super().compute()

    def validate(*arguments: object, **named: object) -> torch.Tensor:
        found = check(*arguments, **named)
        clock.begin()
        return found

    pretrain.RunningMean, pretrain.validate = Mean, validate
    os.environ.pop("RANK", None)
    pretrain.setup(
        "tiny",
        Config(name="tiny", block_size=LENGTH, vocab_size=100, n_layer=1, n_head=2, n_embd=16, intermediate_size=32),
        precision="32-true",
        data=Made(),
        train=TrainArgs(
            save_interval=10_000,
            log_interval=interval,
            global_batch_size=BATCH * micro,
            micro_batch_size=BATCH,
            max_tokens=ITERATIONS * BATCH * LENGTH,
            max_norm=1.0,
            min_lr=1e-4,
            lr_warmup_steps=5,
        ),
        eval=EvalArgs(interval=10 if micro > 1 else 10_000, max_iters=5, final_validation=False),
        log=LogArgs(),
        devices=1,
        logger_name="csv",
    )
    del inner
    clock.finish(step=[ITERATIONS, ITERATIONS // micro], loss=told["loss"], larger=[micro] if micro > 1 else [])


if __name__ == "__main__":
    train(sys.argv[1])
