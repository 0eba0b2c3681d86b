"""CMA-ES: its table of iterations, evaluations and minutes, densely at first and then seldom."""

import sys

import cma
from clock import Clock

SETUPS = ("every_10", "every_iteration")
ITERATIONS = 200


def train(setup: str) -> None:
    every = 10 if setup == "every_10" else 1
    clock = Clock(pace=0.1, interval=every)
    strategy = cma.CMAEvolutionStrategy(8 * [0.5], 0.3, {"seed": 1, "verb_disp": every, "verb_log": 0, "tolfun": 0})
    last = 0.0
    clock.begin()
    for _ in range(ITERATIONS):
        found = strategy.ask()
        values = [cma.ff.rosen(each) for each in found]
        clock.step(min(values))  # what it takes to evaluate is in the time that it prints
        strategy.tell(found, values)
        if strategy.disp() and strategy.countiter % every == 0:
            last = min(values)
    # It counts evaluations too. A function's value is the loss of a search.
    evaluations = strategy.countevals
    clock.finish(step=[ITERATIONS, evaluations], loss=[last, min(values)], unsaid=["loss"])


if __name__ == "__main__":
    train(sys.argv[1])
