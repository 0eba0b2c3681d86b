"""Texar: its executor's log, and its line of live progress on a terminal."""

import sys

import texar.torch as tx
import torch
import toy
from clock import Clock
from clock_torch import clock_optimizers
from texar.torch.run import Executor, cond, metric

SETUPS = ("every_10", "every_20_validation", "live_terminal")
BATCH, BATCHES, EPOCHS = 16, 40, 4


class Data(tx.data.DatasetBase):  # type: ignore[misc]
    """The made-up data."""

    def __init__(self, samples: int) -> None:
        points, labels = toy.dataset(samples).tensors
        source = tx.data.SequenceDataSource(list(zip(points, labels, strict=True)))
        super().__init__(source, {"batch_size": BATCH, "shuffle": False})

    def process(self, raw_example: object) -> object:
        return raw_example

    def collate(self, examples: list) -> tx.data.Batch:  # type: ignore[type-arg]
        points, labels = zip(*examples, strict=True)
        return tx.data.Batch(len(examples), points=torch.stack(points), labels=torch.stack(labels))


class Model(torch.nn.Module):
    """The classifier, which returns its loss by name."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = toy.model()

    def forward(self, batch: tx.data.Batch) -> dict[str, torch.Tensor]:
        found = self.inner(batch.points)
        loss = torch.nn.functional.cross_entropy(found, batch.labels)
        return {"loss": loss, "preds": found.argmax(1)}


def train(setup: str) -> None:
    # Its samplers hand their data on, which PyTorch's no longer take.
    torch.utils.data.Sampler.__init__ = lambda *_: None  # type: ignore[method-assign]
    every = 20 if "20" in setup else 10
    clock = Clock(pace=0.06, batch=BATCH, interval=every)
    clock_optimizers(clock)
    model = Model()
    seen: list[float] = []
    model.register_forward_hook(lambda _, __, found: seen.append(found["loss"].item()) if model.training else None)
    check = (
        {"valid_data": Data(BATCH * 5), "validate_every": cond.epoch(1), "valid_metrics": [("loss", metric.Average())]}
        if "validation" in setup
        else {}
    )
    executor = Executor(
        model=model,
        train_data=Data(BATCH * BATCHES),
        optimizer=torch.optim.Adam(model.parameters(), lr=0.003),
        stop_training_on=cond.epoch(EPOCHS),
        log_every=[cond.iteration(every)],
        train_metrics=[("loss", metric.RunningAverage(every))],
        log_destination=[sys.stdout],
        print_model_arch=False,
        show_live_progress=setup == "live_terminal",
        **check,
    )
    if "validation" in setup:
        executor.on_event(cond.Event.Validation, "end", lambda _: clock.begin())
    clock.begin()
    executor.train()
    loss = sum(seen[-every:]) / every
    clock.finish(step=[BATCHES, clock.steps], loss=loss)


if __name__ == "__main__":
    train(sys.argv[1])
