"""hmmlearn: three columns an iteration, without a head: its number, the log probability, and what was gained."""

import sys

import numpy as np
from clock import Clock
from hmmlearn import base, hmm

SETUPS = ("gaussian", "mixture")
ITERATIONS = 60


def train(setup: str) -> None:
    random = np.random.default_rng(0)
    points = np.concatenate([random.normal(each % 3, 0.8, size=(20, 2)) for each in range(12)])
    clock = Clock(pace=0.15)
    inner = base.ConvergenceMonitor.report
    told: list[float] = []

    def report(self: base.ConvergenceMonitor, log_probability: float) -> None:
        clock.step()
        told.append(float(log_probability))
        inner(self, log_probability)

    base.ConvergenceMonitor.report = report
    kind = hmm.GaussianHMM if setup == "gaussian" else hmm.GMMHMM
    model = kind(n_components=4, n_iter=ITERATIONS, tol=-1e9, verbose=True, random_state=0)
    clock.begin()
    model.fit(points)
    # A log probability is made larger: it is a loss only with another sign.
    clock.finish(step=clock.steps, loss=[told[-1], -told[-1]], speed=False, unsaid=["step", "loss"])


if __name__ == "__main__":
    train(sys.argv[1])
