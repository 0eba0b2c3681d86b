"""Cornac: an experiment's log around a bar of epochs, with a loss in its end."""

import random
import sys

import cornac
import torch
from clock import Clock
from clock_torch import clock_optimizers
from tqdm import std

SETUPS = ("autoencoder", "factorization")
EPOCHS = 40


def train(setup: str) -> None:
    torch.set_num_threads(1)
    chooser = random.Random(0)
    triples = sorted({(f"u{chooser.randrange(60)}", f"i{chooser.randrange(50)}") for _ in range(1500)})
    ratings = [(user, item, float(chooser.randrange(1, 6))) for user, item in triples]
    split = cornac.eval_methods.RatioSplit(ratings, test_size=0.1, rating_threshold=3.0, seed=1, verbose=True)
    clock = Clock(pace=0.03)
    clock_optimizers(clock)
    if setup == "autoencoder":
        model = cornac.models.VAECF(k=8, n_epochs=EPOCHS, batch_size=10, learning_rate=0.002, seed=1, verbose=True)
    else:
        model = cornac.models.NeuMF(
            num_factors=4,
            layers=(16, 4),
            num_epochs=EPOCHS // 2,
            batch_size=128,
            backend="pytorch",
            seed=1,
            verbose=True,
        )
    epochs = EPOCHS if setup == "autoencoder" else EPOCHS // 2
    told: dict[str, float] = {}
    inner = std.tqdm.set_postfix

    def noted(self: std.tqdm, *arguments: object, **named: object) -> None:  # type: ignore[type-arg]
        told.update({key: float(value) for key, value in named.items() if key != "refresh"})  # type: ignore[arg-type]
        inner(self, *arguments, **named)

    std.tqdm.set_postfix = noted
    opened = std.tqdm.__init__

    def begun(self: std.tqdm, *arguments: object, **named: object) -> None:  # type: ignore[type-arg]
        clock.begin()  # what builds the model and its data is no part of the first step
        opened(self, *arguments, **named)

    std.tqdm.__init__ = begun
    cornac.Experiment(split, [model], metrics=[cornac.metrics.Recall(k=10)], user_based=True).run()
    batches = clock.steps // epochs
    clock.interval = batches
    # Its bar counts epochs, and does not say so.
    clock.finish(step=epochs, loss=list(told.values()), speed=False, unsaid=["step"], larger=[batches])


if __name__ == "__main__":
    train(sys.argv[1])
