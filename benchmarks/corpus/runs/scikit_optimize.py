"""scikit-optimize: a paragraph a trial, with its time, its value and the least one so far."""

import sys

from clock import Clock
from skopt import forest_minimize

SETUPS = {"forest": "RF", "extra_trees": "ET"}
TRIALS = 60


def train(setup: str) -> None:
    clock = Clock(pace=0.3)

    def objective(place: list[float]) -> float:
        value = (place[0] - 0.3) ** 2 + 0.5 * abs(place[1])
        clock.step(value)
        return value

    clock.begin()
    places = [(-1.0, 1.0), (-2.0, 2.0)]
    found = forest_minimize(
        objective, places, base_estimator=SETUPS[setup], n_calls=TRIALS, random_state=0, verbose=True
    )
    # A trial's value is no loss of a training, but what the search makes smaller.
    clock.finish(step=TRIALS, loss=[clock.losses[-1], float(found.fun)], unsaid=["loss"])


if __name__ == "__main__":
    train(sys.argv[1])
