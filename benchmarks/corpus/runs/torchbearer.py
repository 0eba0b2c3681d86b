"""torchbearer: its bars of batches, running means in their ends, and its one bar of epochs."""

import sys

import torch
import torchbearer
import toy
from clock import Clock
from torchbearer import Trial, callbacks

SETUPS = ("bars_validation", "bar_of_epochs")
BATCH, BATCHES, EPOCHS = 16, 40, 4


def train(setup: str) -> None:
    bars = setup == "bars_validation"
    clock = Clock(pace=0.05 if bars else 0.03, batch=BATCH, interval=1 if bars else BATCHES)
    told: list[dict] = []  # type: ignore[type-arg]

    @callbacks.on_start_training
    def began(_: dict) -> None:  # type: ignore[type-arg]
        clock.begin()

    @callbacks.on_step_training
    def ended(state: dict) -> None:  # type: ignore[type-arg]
        clock.step(state[torchbearer.LOSS].item())
        if clock.steps % BATCHES == 0:
            told.append(dict(state[torchbearer.METRICS]))

    model = toy.model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    trial = Trial(
        model,
        optimizer,
        torch.nn.CrossEntropyLoss(),
        metrics=["acc", "loss"],
        callbacks=[began, ended],
        verbose=2 if bars else 1,
    )
    trial.with_train_generator(toy.loader(BATCH * BATCHES, BATCH))
    if bars:
        trial.with_val_generator(toy.loader(BATCH * 8, BATCH))
    epochs = EPOCHS if bars else 12
    history = trial.run(epochs)
    losses = [history[-1]["loss"], history[-1]["running_loss"]]
    if bars:
        clock.finish(step=[BATCHES, clock.steps], loss=losses)
    else:
        # The bar counts epochs, and does not say so.
        clock.finish(step=epochs, loss=losses, speed=False, unsaid=["step"], larger=[BATCHES])


if __name__ == "__main__":
    train(sys.argv[1])
