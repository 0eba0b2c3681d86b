"""CatBoost: learn error, total and remaining time of each round that it reports."""

import math
import sys
import time

import numpy as np
from catboost import CatBoostClassifier, Pool
from clock import Clock

SETUPS = {"every_round": 1, "every_10_evaluation": 10, "metric_period": 5}


class SlowLogistic:
    """The logistic loss as an objective of one's own, drawn out: CatBoost leaves callbacks out of the times that it prints."""

    def calc_ders_range(self, scores: list[float], targets: list[float], weights: object) -> list[tuple[float, float]]:
        del weights
        time.sleep(0.025)
        chances = [1 / (1 + math.exp(-score)) for score in scores]
        return [(target - chance, -chance * (1 - chance)) for target, chance in zip(targets, chances, strict=True)]


class Hook:
    """Clocks rounds."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def after_iteration(self, info: object) -> bool:
        self.clock.step(info.metrics["learn"]["Logloss"][-1] if "Logloss" in info.metrics["learn"] else None)  # type: ignore[attr-defined]
        return True


def train(setup: str) -> None:
    interval, rounds = SETUPS[setup], 90
    clock = Clock(pace=0.0, interval=interval)
    random = np.random.default_rng(0)
    points = random.normal(size=(900, 12))
    labels = (points[:, 0] * points[:, 1] + random.normal(size=900) > 0).astype(int)
    model = CatBoostClassifier(
        loss_function=SlowLogistic(),
        eval_metric="Logloss",
        iterations=rounds,
        depth=3,
        learning_rate=0.1,
        thread_count=1,
        metric_period=interval,
        allow_writing_files=False,
        leaf_estimation_iterations=1,
        leaf_estimation_method="Gradient",
    )
    test = Pool(points[600:], labels[600:]) if setup == "every_10_evaluation" else None
    clock.begin()
    model.fit(Pool(points[:600], labels[:600]), eval_set=test, callbacks=[Hook(clock)])
    final = model.get_evals_result()["learn"]["Logloss"]
    clock.finish(step=[rounds - 1, rounds], loss=[final[-1]])


if __name__ == "__main__":
    train(sys.argv[1])
