"""Hyperopt: one bar of trials, with the best loss so far in its end."""

import sys

import numpy as np
from clock import Clock
from hyperopt import fmin, hp, rand, tpe

SETUPS = ("bar", "bar_slow_trials")


def train(setup: str) -> None:
    slow = setup == "bar_slow_trials"
    trials = 25 if slow else 150
    # Slower than one in a second, the bar says how many seconds one takes.
    clock = Clock(pace=1.25 if slow else 0.08)
    best: list[float] = []

    def objective(values: dict[str, float]) -> float:
        value = (values["rate"] - 0.3) ** 2 + 0.1 * values["layers"] + 0.25
        best.append(min([value, *best[-1:]]))
        clock.step(value)
        return value

    space = {"rate": hp.uniform("rate", 0, 1), "layers": hp.quniform("layers", 1, 4, 1)}
    clock.begin()
    algorithm = rand.suggest if slow else tpe.suggest
    fmin(objective, space, algo=algorithm, max_evals=trials, rstate=np.random.default_rng(0), show_progressbar=True)
    # The best value is no loss of a training, but what the search makes smaller.
    clock.finish(step=trials, loss=best[-1], unsaid=["loss"])


if __name__ == "__main__":
    train(sys.argv[1])
