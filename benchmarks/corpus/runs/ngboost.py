"""NGBoost: a line a few boosting rounds, with the loss, its validation's, a scale and a norm."""

import sys

import numpy as np
from clock import Clock
from ngboost import NGBRegressor

SETUPS = {"every_round": 1, "every_10_validation": 10}
ROUNDS = 101


def train(setup: str) -> None:
    interval = SETUPS[setup]
    random = np.random.default_rng(0)
    points = random.normal(size=(400, 6))
    targets = points[:, 0] * 2 + random.normal(size=400)
    clock = Clock(pace=0.08, interval=interval)
    losses: list[float] = []

    class Clocked(NGBRegressor):  # type: ignore[misc]
        """Clocks rounds: each ends with the sampling of the next one's rows."""

        def line_search(self, *arguments: object, **named: object) -> object:
            found = super().line_search(*arguments, **named)
            clock.step()
            return found

    model = Clocked(n_estimators=ROUNDS, verbose_eval=interval, random_state=0, learning_rate=0.05)

    def monitor(distribution: object, values: np.ndarray, weights: object) -> float:
        del weights
        losses.append(float(distribution.total_score(values)))  # type: ignore[attr-defined]
        return losses[-1]

    check = {"X_val": points[:100], "Y_val": targets[:100]} if "validation" in setup else {}
    clock.begin()
    model.fit(points, targets, train_loss_monitor=monitor, **check)
    last = (ROUNDS - 1) // interval * interval
    clock.finish(step=[last], loss=losses[last], speed=False)


if __name__ == "__main__":
    train(sys.argv[1])
