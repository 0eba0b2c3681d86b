"""A small classifier with Keras, and its set-ups, for the programs that train with it on one backend each."""

import keras
import numpy as np
from clock import Clock

SETUPS = ("bars", "one_line_an_epoch", "bars_validation_slow_start", "bars_terminal", "lambda_prints")
BATCH, BATCHES, EPOCHS = 16, 40, 4


class Hook(keras.callbacks.Callback):  # type: ignore[misc]
    """Clocks batches."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def on_epoch_begin(self, epoch: int, logs: object = None) -> None:
        del epoch, logs
        self.clock.begin()

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:  # type: ignore[type-arg]
        del batch
        self.clock.step((logs or {}).get("loss"))


class Printer(keras.callbacks.Callback):  # type: ignore[misc]
    """Prints every tenth batch."""

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:  # type: ignore[type-arg]
        if batch % 10 == 9:
            print(f"For batch {batch + 1}, loss is {(logs or {})['loss']:7.4f}.")

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:  # type: ignore[type-arg]
        print(f"The average loss for epoch {epoch + 1} is {(logs or {})['loss']:7.4f}.")


def train(setup: str) -> None:
    """Run one set-up."""
    keras.utils.set_random_seed(0)
    random = np.random.default_rng(0)
    points = random.normal(size=(BATCH * BATCHES, 16)).astype("float32")
    labels = (points[:, 0] * points[:, 1] > 0).astype("int32")
    clock = Clock(
        pace=0.05,
        batch=BATCH,
        interval=10 if setup == "lambda_prints" else 1,
        slow_start=3.0 if "slow_start" in setup else 0.0,
    )
    model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    verbose = {"one_line_an_epoch": 2, "lambda_prints": 0}.get(setup, 1)
    # Compile before the clock runs, so that the first step is one like the others.
    model.train_on_batch(points[:BATCH], labels[:BATCH])
    more = {"validation_data": (points[:160], labels[:160])} if "validation" in setup else {}
    callbacks = [Hook(clock), *([Printer()] if setup == "lambda_prints" else [])]
    epochs = 12 if setup == "one_line_an_epoch" else EPOCHS
    history = model.fit(points, labels, batch_size=BATCH, epochs=epochs, verbose=verbose, callbacks=callbacks, **more)
    unsaid = ["step"] if setup == "one_line_an_epoch" else []
    loss = history.history["loss"][-1]
    clock.finish(step=[BATCHES, clock.steps], loss=loss, speed=setup != "lambda_prints", unsaid=unsaid)
