"""Avalanche: continual learning, with bars of epochs and blocks of metrics that are named by paths."""

import sys

import torch
import toy
from avalanche.benchmarks import benchmark_from_datasets
from avalanche.benchmarks.utils import as_classification_dataset
from avalanche.core import SupervisedPlugin
from avalanche.evaluation.metrics import accuracy_metrics, loss_metrics, timing_metrics
from avalanche.logging import InteractiveLogger, TextLogger
from avalanche.training.plugins import EvaluationPlugin
from avalanche.training.supervised import Naive
from clock import Clock

SETUPS = ("bars", "bars_evaluation", "text")
BATCH, BATCHES, EPOCHS, PARTS = 16, 40, 2, 2


class Points(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """A part of the made-up data, with the labels where the benchmark looks for them."""

    def __init__(self, part: int, samples: int) -> None:
        self.points, labels = toy.dataset(samples * PARTS).tensors
        self.points = self.points[part * samples : (part + 1) * samples]
        self.targets = labels[part * samples : (part + 1) * samples].tolist()

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, at: int) -> tuple[torch.Tensor, int]:
        return self.points[at], self.targets[at]


class Hook(SupervisedPlugin):  # type: ignore[misc, type-arg]
    """Clocks batches."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def before_training_epoch(self, *_: object, **__: object) -> None:
        self.clock.begin()

    def after_training_iteration(self, strategy: object, *_: object, **__: object) -> None:
        self.clock.step(strategy.loss.item())  # type: ignore[attr-defined]


def train(setup: str) -> None:
    clock = Clock(pace=0.05, batch=BATCH, interval=BATCHES if setup == "text" else 1)
    parts = [as_classification_dataset(Points(part, BATCH * BATCHES)) for part in range(PARTS)]
    tests = [as_classification_dataset(Points(part, BATCH * 4)) for part in range(PARTS)]
    benchmark = benchmark_from_datasets(train=parts, test=tests)
    logger = TextLogger(sys.stdout) if setup == "text" else InteractiveLogger()
    metrics = [loss_metrics(epoch=True, experience=True), accuracy_metrics(epoch=True, experience=True)]
    if setup == "text":
        metrics.append(timing_metrics(epoch=True))
    model = toy.model()
    strategy = Naive(
        model=model,
        optimizer=torch.optim.Adam(model.parameters(), lr=0.003),
        criterion=torch.nn.CrossEntropyLoss(),
        train_mb_size=BATCH,
        train_epochs=EPOCHS,
        eval_mb_size=BATCH,
        plugins=[Hook(clock)],
        evaluator=EvaluationPlugin(*metrics, loggers=[logger]),
    )
    for part in benchmark.train_stream:
        strategy.train(part)
        if setup != "bars":
            strategy.eval(benchmark.test_stream)
    mean = sum(clock.losses[-BATCHES:]) / BATCHES  # type: ignore[arg-type]
    # Its text tells neither batches nor their number, and the time of an epoch is not that of a step.
    text = setup == "text"
    clock.finish(step=None if text else [BATCHES, clock.steps], loss=mean, speed=not text)


if __name__ == "__main__":
    train(sys.argv[1])
