"""LightGBM: one line a few boosting rounds, after its own report of the data."""

import sys

import lightgbm
import numpy as np
from clock import Clock

SETUPS = {"every_round": 1, "every_5_verbose": 5, "every_10_two_sets": 10}


def train(setup: str) -> None:
    interval, rounds = SETUPS[setup], 90
    clock = Clock(pace=0.05, interval=interval)
    random = np.random.default_rng(0)
    points = random.normal(size=(900, 12))
    labels = (points[:, 0] * points[:, 1] + random.normal(size=900) > 0).astype(int)
    data = lightgbm.Dataset(points[:600], labels[:600])
    test = lightgbm.Dataset(points[600:], labels[600:], reference=data)
    options = {
        "objective": "binary",
        "num_leaves": 7,
        "verbosity": 1 if setup != "every_round" else -1,
        "num_threads": 1,
    }
    sets, names = ([data, test], ["training", "valid"]) if setup == "every_10_two_sets" else ([data], ["training"])

    def hook(environment: lightgbm.callback.CallbackEnv) -> None:
        clock.step(environment.evaluation_result_list[0][2])

    hook.order = 5  # before the log's own  # type: ignore[attr-defined]
    clock.begin()
    callbacks = [lightgbm.log_evaluation(interval), hook]
    lightgbm.train(options, data, rounds, valid_sets=sets, valid_names=names, callbacks=callbacks)
    last = rounds // interval * interval
    clock.finish(step=[last], loss=[clock.losses[last - 1]], speed=False)


if __name__ == "__main__":
    train(sys.argv[1])
