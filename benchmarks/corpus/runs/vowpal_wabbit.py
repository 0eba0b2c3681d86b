"""Vowpal Wabbit: its table of examples, counted by powers of two or evenly, with losses so far and since the last row."""

import random
import sys

import vowpalwabbit
from clock import Clock

SETUPS = ("every_50", "doubling")
EXAMPLES = 1100


def train(setup: str) -> None:
    chooser = random.Random(0)
    options = "--loss_function logistic --link logistic" + (" -P 50" if setup == "every_50" else "")
    clock = Clock(pace=0.012, batch=1, interval=50)
    model = vowpalwabbit.Workspace(options)
    told: list[int] = [50 * each for each in range(1, 30)] if setup == "every_50" else [2**each for each in range(12)]
    sums, losses = 0.0, []
    clock.begin()
    for number in range(1, EXAMPLES + 1):
        one, two = chooser.random(), chooser.random()
        model.learn(f"{1 if one + two > 1 else -1} | one:{one:.3f} two:{two:.3f}")
        clock.step()
        if number in told:
            total = model.get_sum_loss()
            losses = [
                total / number,
                (total - sums) / (number - (told[told.index(number) - 1] if number > told[0] else 0)),
            ]
            sums = total
    last = max(each for each in told if each <= EXAMPLES)
    losses.append(model.get_sum_loss() / EXAMPLES)  # which its summary prints, with all examples
    model.finish()
    clock.finish(step=[last, EXAMPLES], loss=losses, speed=False)


if __name__ == "__main__":
    train(sys.argv[1])
