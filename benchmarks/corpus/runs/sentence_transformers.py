"""sentence-transformers: its trainer over a static embedding, in a bar and without one."""

import sys

import datasets
import tiny_language
import torch
import transformers
from clock import Clock
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.models import StaticEmbedding
from sentence_transformers.sentence_transformer import losses
from transformers import TrainerCallback

SETUPS = {
    "bar": {"logging_steps": 10},
    "no_bar": {"logging_steps": 5, "disable_tqdm": True},
    "first_step_logged": {"logging_steps": 4, "logging_first_step": True},
}
STEPS, BATCH = 100, 16


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
    clock = Clock(pace=0.06, batch=BATCH, interval=SETUPS[setup]["logging_steps"])
    text = tiny_language.sentences(BATCH * 50)
    data = datasets.Dataset.from_dict({"anchor": text, "positive": text[1:] + text[:1]})
    words = tiny_language.tokenizer()
    model = SentenceTransformer(modules=[StaticEmbedding(words.backend_tokenizer, embedding_dim=32)], device="cpu")
    arguments = SentenceTransformerTrainingArguments(
        "out",
        max_steps=STEPS,
        per_device_train_batch_size=BATCH,
        report_to="none",
        use_cpu=True,
        save_strategy="no",
        **SETUPS[setup],
    )
    hook = Hook(clock)
    loss = losses.MultipleNegativesRankingLoss(model)
    trainer = SentenceTransformerTrainer(model, args=arguments, train_dataset=data, loss=loss, callbacks=[hook])
    trainer.train()
    final = [each["train_loss"] for each in trainer.state.log_history if "train_loss" in each]
    clock.finish(step=None if setup == "no_bar" else [hook.step], loss=[hook.loss, *final], speed=True)


if __name__ == "__main__":
    train(sys.argv[1])
