"""openTSNE: a line every 50 iterations, which says in how many seconds they ran; its two phases count from one again."""

import sys

import numpy as np
from clock import Clock
from openTSNE import TSNE

SETUPS = ("exact_neighbours", "short_phases")


def train(setup: str) -> None:
    random = np.random.default_rng(0)
    points = random.normal(size=(150, 8)) + np.repeat(np.eye(3, 8) * 8, 50, axis=0)
    first, second = (250, 500) if setup == "exact_neighbours" else (100, 400)
    clock = Clock(pace=0.02, interval=50)
    errors: list[float] = []

    def hook(iteration: int, error: float, embedding: object) -> bool:
        del iteration, embedding
        errors.append(float(error))
        clock.step(error)
        return False

    model = TSNE(
        perplexity=20,
        early_exaggeration_iter=first,
        n_iter=second,
        neighbors="exact",
        negative_gradient_method="bh",
        initialization="random",
        callbacks=hook,
        callbacks_every_iters=1,
        verbose=True,
        random_state=0,
        n_jobs=1,
    )
    clock.begin()
    model.fit(points)
    # Its divergence is what it descends.
    clock.finish(step=[second, clock.steps], loss=errors[-1], unsaid=["loss"])


if __name__ == "__main__":
    train(sys.argv[1])
