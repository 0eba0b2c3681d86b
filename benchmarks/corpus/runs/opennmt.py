"""OpenNMT-py: its line of accuracy, perplexity, entropy, rates of tokens of both sides and seconds since the start."""

import random
import sys
from pathlib import Path

import torch
import yaml
from clock import Clock
from clock_torch import clock_optimizers
from onmt.bin import build_vocab
from onmt.bin import train as program
from onmt.utils.statistics import Statistics

SETUPS = ("every_10", "every_20_validation")
WORDS = ["red", "old", "loud", "tree", "river", "train", "sees", "makes", "again", "never"]
BATCH, LENGTH, STEPS = 8, 9, 300


def train(setup: str) -> None:
    torch.set_num_threads(1)
    chooser = random.Random(0)
    for name, count in (("train", 2400), ("dev", 16)):
        rows = [" ".join(chooser.choices(WORDS, k=LENGTH)) for _ in range(count)]
        Path(f"{name}.en").write_text("\n".join(rows) + "\n")
        # A word shorter, so that both sides have the same rate of tokens: a target has an end more.
        Path(f"{name}.de").write_text("\n".join(row.upper().rsplit(maxsplit=1)[0] for row in rows) + "\n")
    interval = 10 if setup == "every_10" else 20
    settings = {
        "save_data": "made",
        "src_vocab": "made.vocab.src",
        "tgt_vocab": "made.vocab.tgt",
        "overwrite": True,
        "data": {
            "corpus": {"path_src": "train.en", "path_tgt": "train.de"},
            "valid": {"path_src": "dev.en", "path_tgt": "dev.de"},
        },
        "save_model": "out/model",
        "save_checkpoint_steps": 1000,
        "train_steps": STEPS,
        "valid_steps": 1000 if setup == "every_10" else 100,
        "report_every": interval,
        "batch_size": BATCH,
        "batch_type": "sents",
        "num_workers": 0,
        "bucket_size": 240,
        "encoder_type": "rnn",
        "decoder_type": "rnn",
        "hidden_size": 16,
        "word_vec_size": 16,
        "layers": 1,
        "optim": "adam",
        "learning_rate": 0.002,
        "seed": 1,
    }
    Path("config.yaml").write_text(yaml.safe_dump(settings))
    sys.argv = ["onmt_build_vocab", "-config", "config.yaml", "-n_sample", "200"]
    build_vocab.main()
    clock = Clock(pace=0.06, batch=BATCH, tokens=BATCH * LENGTH, interval=interval)
    clock_optimizers(clock)
    told: list[float] = []
    inner = Statistics.output

    def noted(self: Statistics, *arguments: object) -> None:
        inner(self, *arguments)
        told[:] = [self.xent(), round(self.xent(), 1)]

    Statistics.output = noted
    sys.argv = ["onmt_train", "-config", "config.yaml"]
    program.main()
    # Of the entropy it prints one decimal.
    clock.finish(step=STEPS, loss=told, unsaid=["loss"])


if __name__ == "__main__":
    train(sys.argv[1])
