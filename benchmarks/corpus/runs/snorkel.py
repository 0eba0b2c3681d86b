"""Snorkel: the log of its label model, and the bars of its multi-task trainer, whose metrics are named by paths."""

import logging
import sys

import numpy as np
import torch
import toy
from clock import Clock
from clock_torch import clock_optimizers
from snorkel.classification import DictDataLoader, DictDataset, MultitaskClassifier, Operation, Task, Trainer
from snorkel.labeling.model import LabelModel

SETUPS = ("label_model_log", "trainer_bars", "trainer_bars_validation")
BATCH, BATCHES, EPOCHS = 16, 30, 4


def label_model() -> None:
    every, epochs = 10, 201
    logging.basicConfig(level=logging.INFO)
    random = np.random.default_rng(0)
    votes = random.integers(-1, 2, size=(400, 6))
    clock = Clock(pace=0.04, interval=every)
    clock_optimizers(clock)
    model = LabelModel(cardinality=2, verbose=True)
    told: list[tuple[int, float]] = []
    inner = model._execute_logging  # noqa: SLF001

    def noted(loss: torch.Tensor) -> dict:  # type: ignore[type-arg]
        metrics = inner(loss)
        if metrics:
            told.append((clock.steps, loss.item()))
        return metrics  # type: ignore[no-any-return]

    model._execute_logging = noted  # noqa: SLF001
    clock.begin()
    model.fit(votes, n_epochs=epochs, log_freq=every, seed=0, progress_bar=False)
    # An epoch of it is one step, which its log does not say. It counts from 0.
    clock.finish(step=[told[-1][0], told[-1][0] - 1, epochs - 1], loss=told[-1][1], speed=False, unsaid=["step"])


def split(name: str, samples: int) -> DictDataLoader:
    points, labels = toy.dataset(samples).tensors
    data = DictDataset("made", name, {"points": points}, {"kind": labels})
    return DictDataLoader(data, batch_size=BATCH, shuffle=False)


def trainer(setup: str) -> None:
    clock = Clock(pace=0.08, batch=BATCH)
    network = torch.nn.ModuleDict({"body": toy.model()})
    task = Task("kind", network, [Operation("body", [("_input_", "points")], "body")])
    model = MultitaskClassifier([task])
    fitter = Trainer(n_epochs=EPOCHS, lr=0.01, seed=0, log_manager_config={"evaluation_freq": 1.0})
    inner = fitter._logging  # noqa: SLF001
    told: list[float] = []

    def noted(*arguments: object) -> dict:  # type: ignore[type-arg]
        clock.step()
        found = inner(*arguments)
        if clock.steps % BATCHES == 0:
            told.append(float(found["model/all/train/loss"]))
            clock.begin()  # what came since the step was an evaluation
        return found  # type: ignore[no-any-return]

    fitter._logging = noted  # noqa: SLF001
    loaders = [split("train", BATCH * BATCHES)]
    if "validation" in setup:
        loaders.append(split("valid", BATCH * 4))
    clock.begin()
    fitter.fit(model, loaders)
    clock.finish(step=[BATCHES, clock.steps], loss=told[-1])


def train(setup: str) -> None:
    torch.set_num_threads(1)
    if setup == "label_model_log":
        label_model()
    else:
        trainer(setup)


if __name__ == "__main__":
    train(sys.argv[1])
