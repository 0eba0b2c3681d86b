"""d3rlpy: structured lines with a dictionary of an epoch's metrics and times, with bars of epochs and without."""

import sys

import d3rlpy
import numpy as np
import torch
from clock import Clock

SETUPS = ("bars", "log_only", "log_by_steps")
BATCH, STEPS, EPOCHS = 16, 50, 5


def train(setup: str) -> None:
    torch.set_num_threads(1)
    d3rlpy.seed(0)
    random = np.random.default_rng(0)
    seen = random.normal(size=(600, 4)).astype("float32")
    actions = random.integers(0, 2, (600, 1))
    rewards = (actions[:, 0] == (seen[:, 0] > 0)).astype("float32")
    ends = np.arange(1, 601) % 20 == 0
    data = d3rlpy.dataset.MDPDataset(seen, actions, rewards, ends)
    interval = {"bars": 1, "log_only": STEPS, "log_by_steps": 20}[setup]
    clock = Clock(pace=0.06, batch=BATCH, interval=interval)
    encoder = d3rlpy.models.VectorEncoderFactory([16])
    learner = d3rlpy.algos.DiscreteCQLConfig(batch_size=BATCH, encoder_factory=encoder).create(device="cpu")
    inner = learner.update
    losses: list[float] = []

    def update(batch: object) -> dict:  # type: ignore[type-arg]
        found = inner(batch)
        clock.step(found["loss"])
        losses.append(float(found["loss"]))
        return found  # type: ignore[no-any-return]

    learner.update = update
    strategy = d3rlpy.LoggingStrategy.STEPS if setup == "log_by_steps" else d3rlpy.LoggingStrategy.EPOCH
    learner.build_with_dataset(data)
    clock.begin()
    learner.fit(
        data,
        n_steps=STEPS * EPOCHS,
        n_steps_per_epoch=STEPS,
        show_progress=setup == "bars",
        logging_strategy=strategy,
        logging_steps=20,
        save_interval=1000,
        logger_adapter=d3rlpy.logging.NoopAdapterFactory(),
        with_timestamp=False,
    )
    if setup == "log_by_steps":
        last = STEPS * EPOCHS // 20 * 20
        clock.finish(step=last, loss=float(np.mean(losses[last - 20 : last])))
        return
    shown = [float(np.mean(losses[-STEPS:])), float(np.mean(losses[-STEPS : -STEPS + 41]))]
    clock.finish(step=[STEPS, clock.steps] if setup == "bars" else clock.steps, loss=shown)


if __name__ == "__main__":
    train(sys.argv[1])
