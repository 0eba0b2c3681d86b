"""Hugging Face Trainer: dicts between redraws of a bar, without a bar, with evaluation, resumed, accumulating."""

import sys

import tiny_language
import torch
import transformers
from clock import Clock
from transformers import Trainer, TrainerCallback, TrainingArguments

SETUPS = {
    "default_bar": {"logging_steps": 10},
    "no_bar": {"logging_steps": 5, "disable_tqdm": True},
    "evaluation": {"logging_steps": 10, "eval_strategy": "steps", "eval_steps": 30},
    "accumulation_info": {
        "logging_steps": 5,
        "gradient_accumulation_steps": 4,
        "log_level": "info",
        "include_num_input_tokens_seen": True,
    },
    "resumed": {"logging_steps": 10, "save_steps": 40},
    "bar_only": {"logging_strategy": "no"},
}
STEPS, BATCH, LENGTH = 120, 8, 14


class Hook(TrainerCallback):
    """Clocks optimiser steps."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.step, self.loss = 0, 0.0

    def on_train_begin(self, *_: object, **__: object) -> None:
        self.clock.begin()

    def on_step_end(self, *_: object, **__: object) -> None:
        self.clock.step()

    def on_evaluate(self, *_: object, **__: object) -> None:
        self.clock.begin()

    def on_log(self, _: object, state: transformers.TrainerState, *__: object, logs: dict, **___: object) -> None:  # type: ignore[type-arg]
        if "loss" in logs:
            self.step, self.loss = state.global_step, logs["loss"]


def train(setup: str) -> None:
    options = dict(SETUPS[setup])
    micro = options.get("gradient_accumulation_steps", 1)
    clock = Clock(
        pace=0.06 * micro,
        batch=BATCH * micro,
        tokens=BATCH * micro * LENGTH,
        interval=options.get("logging_steps", 1),
        pause=4.0 if setup == "default_bar" else 0.0,
        pause_after=50,
    )
    torch.set_num_threads(1)
    transformers.set_seed(0)
    words = tiny_language.tokenizer()
    text = [words("<s> " + each + " </s>")["input_ids"] for each in tiny_language.sentences(BATCH * STEPS)]
    data = [{"input_ids": each, "labels": each, "attention_mask": [1] * len(each)} for each in text]
    steps = STEPS // 2 if micro > 1 else STEPS
    arguments = TrainingArguments(
        "out",
        per_device_train_batch_size=BATCH,
        max_steps=steps,
        report_to="none",
        use_cpu=True,
        **({"save_strategy": "no"} | options if "save_steps" not in options else options),
    )
    hook = Hook(clock)
    made = {
        "args": arguments,
        "train_dataset": data,
        "eval_dataset": data[:80],
        "data_collator": transformers.default_data_collator,
    }
    if setup == "resumed":
        short = TrainingArguments(
            "out",
            per_device_train_batch_size=BATCH,
            max_steps=40,
            save_steps=40,
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
        )
        Trainer(tiny_language.model(len(words)), **(made | {"args": short})).train()
    trainer = Trainer(tiny_language.model(len(words)), **made, callbacks=[hook])
    trainer.train(resume_from_checkpoint="out/checkpoint-40" if setup == "resumed" else None)
    final = [each["train_loss"] for each in trainer.state.log_history if "train_loss" in each]
    # Without a bar nothing says the step: the dicts hold the epoch only.
    step = None if setup == "no_bar" else sorted({hook.step, steps})
    clock.finish(step=step, loss=[hook.loss, *final] if hook.step else final)


if __name__ == "__main__":
    train(sys.argv[1])
