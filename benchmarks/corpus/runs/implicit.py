"""implicit: the bar of its alternating least squares, with a loss or without, and that of its pairwise ranking."""

import logging
import sys

import implicit
import numpy as np
from clock import Clock
from scipy import sparse

SETUPS = ("least_squares_loss", "pairwise", "least_squares_log")
ITERATIONS = 60


def train(setup: str) -> None:
    random = np.random.default_rng(0)
    seen = sparse.csr_matrix((random.random((120, 80)) < 0.1).astype("float32"))
    clock = Clock(pace=0.15)
    told: list[float] = []

    def ended(_: int, __: float, found: object = None, *___: object) -> None:
        clock.step()
        if isinstance(found, float):
            told.append(found)

    clock.begin()
    if setup == "pairwise":
        model = implicit.bpr.BayesianPersonalizedRanking(
            factors=8, iterations=ITERATIONS, num_threads=1, random_state=0
        )
        model.fit(seen, callback=ended)
        # Its callback comes after the bar was drawn. What it tells is a share, no loss.
        clock.finish(step=ITERATIONS)
        return
    if setup == "least_squares_log":
        logging.basicConfig(level=logging.DEBUG, format="%(asctime)s:%(name)s:%(levelname)s:%(message)s")
    model = implicit.als.AlternatingLeastSquares(
        factors=8, iterations=ITERATIONS, calculate_training_loss=True, num_threads=1, random_state=0
    )
    model.fit(seen, callback=ended, show_progress=setup != "least_squares_log")
    # Without its bar it logs the losses alone.
    bar = setup != "least_squares_log"
    clock.finish(step=ITERATIONS if bar else None, loss=told[-1], speed=bar)


if __name__ == "__main__":
    train(sys.argv[1])
