"""scikit-learn: what its verbose estimators print, without any time (perceptron) or with the time that remains (boosting)."""

import sys
import warnings

import numpy as np
from clock import Clock

SETUPS = ("perceptron", "boosting", "boosting_subsample")


def train(setup: str) -> None:
    from sklearn.ensemble import GradientBoostingClassifier  # noqa: PLC0415
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415

    warnings.filterwarnings("default")
    clock = Clock(pace=0.08)
    random = np.random.default_rng(0)
    points = random.normal(size=(400, 12))
    labels = (points[:, 0] * points[:, 1] + random.normal(size=400) > 0).astype(int)
    rounds = 60
    if setup == "perceptron":
        model = MLPClassifier((16,), max_iter=rounds, verbose=True, random_state=0, n_iter_no_change=rounds)
        inner = model._update_no_improvement_count  # noqa: SLF001

        def clocked(*arguments: object) -> None:
            inner(*arguments)
            clock.step(model.loss_curve_[-1])

        model._update_no_improvement_count = clocked  # noqa: SLF001
        clock.begin()
        model.fit(points, labels)
        clock.finish(step=[rounds], loss=[model.loss_curve_[-1]], speed=False)
        return
    subsample = 0.7 if setup == "boosting_subsample" else 1.0
    model = GradientBoostingClassifier(n_estimators=rounds, max_depth=2, verbose=2, subsample=subsample, random_state=0)

    def monitor(index: int, estimator: GradientBoostingClassifier, _: object) -> bool:
        clock.step(estimator.train_score_[index])
        return False

    clock.begin()
    model.fit(points, labels, monitor=monitor)
    clock.finish(step=[rounds], loss=[float(model.train_score_[-1])], speed=False)


if __name__ == "__main__":
    train(sys.argv[1])
