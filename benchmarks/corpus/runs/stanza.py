"""Stanza: the log of its tagger's training program, with seconds a batch and evaluations between."""

import random
import sys
from pathlib import Path

import torch
from clock import Clock
from stanza.models import tagger

SETUPS = ("every_10", "every_20_evaluation")
WORDS = {"the": "DET", "a": "DET", "dog": "NOUN", "tree": "NOUN", "sees": "VERB", "makes": "VERB"}


def sentences(count: int) -> str:
    """Return made-up sentences in CoNLL-U."""
    made = []
    for _ in range(count):
        words = random.choices(list(WORDS), k=8)
        rows = [
            f"{at}\t{word}\t{word}\t{WORDS[word]}\t_\t_\t{at - 1}\t{'root' if at == 1 else 'dep'}\t_\t_"
            for at, word in enumerate(words, 1)
        ]
        made.append("\n".join(rows) + "\n\n")
    return "".join(made)


def train(setup: str) -> None:
    random.seed(0)
    torch.set_num_threads(1)
    Path("train.conllu").write_text(sentences(200))
    Path("dev.conllu").write_text(sentences(20))
    interval = 10 if setup == "every_10" else 20
    steps, every = 200, 200 if setup == "every_10" else 40
    clock = Clock(pace=0.12, interval=interval)
    losses: list[float] = []
    inner = tagger.Trainer.update

    def update(self: tagger.Trainer, batch: object, eval: bool = False) -> float:  # noqa: A002
        if clock.steps % every == 0:
            clock.begin()  # what came since the last one was an evaluation
        loss = float(inner(self, batch, eval=eval))
        losses.append(loss)
        clock.step(loss)
        return loss

    tagger.Trainer.update = update
    tagger.main(
        [
            *("--train_file", "train.conllu", "--eval_file", "dev.conllu", "--shorthand", "en_made", "--lang", "en"),
            *("--no_pretrain", "--no_char", "--hidden_dim", "16", "--word_emb_dim", "16", "--transformed_dim", "16"),
            *("--deep_biaff_hidden_dim", "16", "--batch_size", "10", "--max_steps", str(steps), "--save_dir", "out"),
            *("--log_step", str(interval), "--eval_interval", str(every), "--fix_eval_interval", "--cpu"),
        ]
    )
    clock.finish(step=[steps], loss=[losses[-1], sum(losses[-every:]) / every])


if __name__ == "__main__":
    train(sys.argv[1])
