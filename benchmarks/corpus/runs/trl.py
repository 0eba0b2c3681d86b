"""TRL: supervised fine-tuning and preference optimisation, with their wide dicts of metrics."""

import copy
import sys

import datasets
import tiny_language
import torch
import transformers
from clock import Clock
from transformers import TrainerCallback
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

SETUPS = {
    "sft": {"logging_steps": 5},
    "sft_no_bar": {"logging_steps": 10, "disable_tqdm": True},
    "dpo": {"logging_steps": 5},
}
STEPS, BATCH = 80, 4


class Hook(TrainerCallback):
    """Clocks optimiser steps."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.step, self.loss = 0, 0.0

    def on_train_begin(self, *_: object, **__: object) -> None:
        self.clock.begin()

    def on_step_end(self, *_: object, **__: object) -> None:
        self.clock.step()

    def on_log(self, _: object, state: transformers.TrainerState, *__: object, logs: dict, **___: object) -> None:  # type: ignore[type-arg]
        if "loss" in logs:
            self.step, self.loss = state.global_step, logs["loss"]


def train(setup: str) -> None:
    torch.set_num_threads(1)
    transformers.set_seed(0)
    options = SETUPS[setup] | {
        "output_dir": "out",
        "max_steps": STEPS,
        "per_device_train_batch_size": BATCH,
        "report_to": "none",
        "save_strategy": "no",
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
    }
    clock = Clock(pace=0.1, batch=BATCH, interval=SETUPS[setup]["logging_steps"])
    words = tiny_language.tokenizer()
    model, hook = tiny_language.model(len(words)), Hook(clock)
    text = tiny_language.sentences(STEPS * BATCH)
    if setup == "dpo":
        data = datasets.Dataset.from_dict({"prompt": text, "chosen": text[::-1], "rejected": text[1:] + text[:1]})
        trainer = DPOTrainer(
            model,
            copy.deepcopy(model),
            args=DPOConfig(**options),
            train_dataset=data,
            processing_class=words,
            callbacks=[hook],
        )
    else:
        data = datasets.Dataset.from_dict({"text": text})
        trainer = SFTTrainer(
            model, args=SFTConfig(**options), train_dataset=data, processing_class=words, callbacks=[hook]
        )
    trainer.train()
    final = [each["train_loss"] for each in trainer.state.log_history if "train_loss" in each]
    clock.finish(step=None if setup == "sft_no_bar" else [hook.step], loss=[hook.loss, *final])


if __name__ == "__main__":
    train(sys.argv[1])
