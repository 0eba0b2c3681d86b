"""Joey NMT: its log of batch losses, accuracies and tokens a second, and of its validations."""

import random
import sys
from pathlib import Path

import torch
import yaml
from clock import Clock
from clock_torch import clock_optimizers
from joeynmt import __main__ as program
from joeynmt.training import TrainManager

SETUPS = ("every_10", "every_25_validation")
WORDS = ["red", "old", "loud", "tree", "river", "train", "sees", "makes", "again", "never"]
BATCH, LENGTH, SENTENCES = 8, 9, 800


def train(setup: str) -> None:
    torch.set_num_threads(1)
    chooser = random.Random(0)
    for name, count in (("train", SENTENCES), ("dev", 16)):
        rows = [" ".join(chooser.choices(WORDS, k=LENGTH)) for _ in range(count)]
        Path(f"{name}.en").write_text("\n".join(rows) + "\n")
        Path(f"{name}.de").write_text("\n".join(row.upper() for row in rows) + "\n")
    Path("words.en").write_text("\n".join(["<unk>", "<pad>", "<s>", "</s>", *WORDS]) + "\n")
    Path("words.de").write_text("\n".join(["<unk>", "<pad>", "<s>", "</s>", *(word.upper() for word in WORDS)]) + "\n")
    interval, every = (10, 1000) if setup == "every_10" else (25, 50)
    side = {"type": "rnn", "rnn_type": "gru", "hidden_size": 16, "embeddings": {"embedding_dim": 16}, "num_layers": 1}
    settings = {
        "name": "made",
        "joeynmt_version": "2.3.0",
        "model_dir": "out",
        "use_cuda": False,
        "random_seed": 0,
        "data": {
            "train": "train",
            "dev": "dev",
            "dataset_type": "plain",
            "src": {"lang": "en", "level": "word", "voc_file": "words.en", "max_length": 30},
            "trg": {"lang": "de", "level": "word", "voc_file": "words.de", "max_length": 30},
        },
        "training": {
            "optimizer": "adam",
            "learning_rate": 0.002,
            "batch_size": BATCH,
            "epochs": 3,
            "logging_freq": interval,
            "validation_freq": every,
            "scheduling": "exponential",
            "decrease_factor": 0.99,
            "early_stopping_metric": "loss",
            "print_valid_sents": [0],
            "overwrite": True,
        },
        "testing": {"beam_size": 1, "eval_metrics": ["bleu"], "max_output_length": 12},
        "model": {
            "initializer": "xavier_uniform",
            "encoder": side,
            "decoder": side | {"attention": "luong", "bridge": True, "init_hidden": "bridge"},
        },
    }
    Path("config.yaml").write_text(yaml.safe_dump(settings))
    # What it counts as tokens are the words of the target and its end.
    clock = Clock(pace=0.06, batch=BATCH, tokens=BATCH * (LENGTH + 1), interval=interval)
    clock_optimizers(clock)
    losses: list[float] = []
    scores, check = TrainManager._log_scores, TrainManager._validate  # noqa: SLF001

    def noted(self: TrainManager, *told: float) -> None:
        scores(self, *told)
        losses.append(told[-1])

    def validate(self: TrainManager, data: object) -> None:
        check(self, data)
        clock.begin()

    TrainManager._log_scores, TrainManager._validate = noted, validate  # noqa: SLF001
    sys.argv = ["joeynmt", "train", "config.yaml", "--skip-test"]
    program.main()
    clock.finish(step=clock.steps // interval * interval, loss=losses[-1])


if __name__ == "__main__":
    train(sys.argv[1])
