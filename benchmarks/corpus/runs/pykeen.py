"""PyKEEN: embeddings of a small graph; bars of epochs around bars of batches."""

import logging
import sys

import numpy as np
import pykeen.models
import pykeen.training
import torch
from clock import Clock
from pykeen.training.callbacks import TrainingCallback
from pykeen.triples import TriplesFactory

SETUPS = ("bar_epochs", "bars_batches")
TRIPLES, BATCH = 1280, 32


class Hook(TrainingCallback):
    """Clocks batches."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.epoch_loss = 0.0

    def on_batch(self, epoch: int, batch: object, batch_loss: float, **_: object) -> None:
        del epoch, batch
        self.clock.step(float(batch_loss))

    def post_epoch(self, epoch: int, epoch_loss: float, **_: object) -> None:
        del epoch
        self.epoch_loss = float(epoch_loss)


def train(setup: str) -> None:
    logging.basicConfig(level=logging.INFO)
    torch.set_num_threads(1)
    random = np.random.default_rng(0)
    graph = {tuple(map(str, each)) for each in random.integers(0, 60, size=(4000, 3)) % (60, 3, 60)}
    factory = TriplesFactory.from_labeled_triples(np.array(sorted(graph)[:TRIPLES]))
    epochs = 10 if setup == "bar_epochs" else 4
    clock = Clock(pace=0.04, batch=BATCH, interval=TRIPLES // BATCH)
    model = pykeen.models.TransE(triples_factory=factory, embedding_dim=8, random_seed=0)
    loop = pykeen.training.SLCWATrainingLoop(
        model=model, triples_factory=factory, optimizer=torch.optim.Adam(model.parameters())
    )
    hook = Hook(clock)
    clock.begin()
    loop.train(
        factory,
        num_epochs=epochs,
        batch_size=BATCH,
        callbacks=[hook],
        use_tqdm_batch=setup == "bars_batches",
        num_workers=0,
    )
    batches = clock.steps // epochs
    # The bar counts epochs: neither its count nor its rate is that of training steps.
    # The bar of batches is wiped before it is drawn full: the last count to be seen is one of the last three.
    step = None if setup == "bar_epochs" else [each - late for each in (batches, clock.steps) for late in range(3)]
    clock.finish(step=step, loss=[hook.epoch_loss], speed=setup == "bars_batches")


if __name__ == "__main__":
    train(sys.argv[1])
