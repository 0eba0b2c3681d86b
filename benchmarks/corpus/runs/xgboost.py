"""XGBoost: one line a boosting round."""

import sys

import numpy as np
import xgboost
from clock import Clock

SETUPS = {"every_round": 1, "every_10": 10, "monitor_callback": 1}


class Hook(xgboost.callback.TrainingCallback):
    """Clocks rounds."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def after_iteration(self, model: object, epoch: int, evals_log: dict) -> bool:  # type: ignore[type-arg]
        del model, epoch
        self.clock.step(evals_log["train"]["logloss"][-1])
        return False


def train(setup: str) -> None:
    interval, rounds = SETUPS[setup], 90
    clock = Clock(pace=0.05, interval=interval)
    random = np.random.default_rng(0)
    points = random.normal(size=(800, 12))
    labels = (points[:, 0] * points[:, 1] + random.normal(size=800) > 0).astype(int)
    data, test = xgboost.DMatrix(points[:600], labels[:600]), xgboost.DMatrix(points[600:], labels[600:])
    options = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1, "verbosity": 2}
    evals = [(data, "train")] if setup == "monitor_callback" else [(data, "train"), (test, "valid")]
    clock.begin()
    xgboost.train(
        options | {"eval_metric": "logloss"}, data, rounds, evals=evals, verbose_eval=interval, callbacks=[Hook(clock)]
    )
    last = (rounds - 1) // interval * interval
    losses = [clock.losses[last], clock.losses[-1]]
    clock.finish(step=[last, last + 1, rounds - 1], loss=losses, speed=False)


if __name__ == "__main__":
    train(sys.argv[1])
