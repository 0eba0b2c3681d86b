"""Poutyne: its line of progress that ends as a summary of the epoch, drawn or plain, with colours on a terminal."""

import sys

import toy
from clock import Clock
from poutyne import Callback, Model

SETUPS = ("lines_validation", "bar_terminal", "every_10_plain")
BATCH, BATCHES, EPOCHS = 16, 40, 4


class Hook(Callback):  # type: ignore[misc]
    """Clocks batches."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock, self.mean = clock, 0.0

    def on_epoch_begin(self, epoch_number: int, logs: dict) -> None:  # type: ignore[type-arg]
        del epoch_number, logs
        self.clock.begin()

    def on_train_batch_end(self, batch_number: int, logs: dict) -> None:  # type: ignore[type-arg]
        del batch_number
        self.clock.step(logs["loss"])

    def on_epoch_end(self, epoch_number: int, logs: dict) -> None:  # type: ignore[type-arg]
        del epoch_number
        self.mean = logs["loss"]


def train(setup: str) -> None:
    clock = Clock(pace=0.05, batch=BATCH, interval=10 if setup == "every_10_plain" else 1)
    hook = Hook(clock)
    model = Model(toy.model(), "adam", "cross_entropy", batch_metrics=["accuracy"])
    valid = toy.loader(BATCH * 8, BATCH) if "validation" in setup else None
    style = (
        {"coloring": False, "progress_bar": False, "show_every_n_train_steps": 10} if setup == "every_10_plain" else {}
    )
    model.fit_generator(
        toy.loader(BATCH * BATCHES, BATCH),
        valid,
        epochs=EPOCHS,
        callbacks=[hook],
        progress_options=style,
    )
    clock.finish(step=[BATCHES, clock.steps], loss=[hook.mean, clock.losses[-1]])


if __name__ == "__main__":
    train(sys.argv[1])
