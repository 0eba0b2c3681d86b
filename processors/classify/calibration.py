"""From a model's scores to probabilities that mean the same for every class (Platt, 1999)."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def curves(scores: Floats, classes: NDArray[np.int64]) -> Floats:
    """Return slope and offset of each class's probability, shape (k, 2).

    Args:
        scores: Of lines that the model was not fitted on, a column a class, shape (n, k).
        classes: The class of each, as a column, shape (n,).
    """
    leads = margins(scores)
    return np.array([platt(leads[:, place], classes == place) for place in range(scores.shape[1])])


def likely(scores: Floats, curves: Floats) -> Floats:
    """Return how likely each class is for each row of scores, shape (n, k). A row need not add up to 1."""
    return sigmoid(margins(scores) * curves[:, 0] + curves[:, 1])


def margins(scores: Floats) -> Floats:
    """Return by how much each class leads the best of the others, shape (n, k)."""
    if not len(scores):
        return scores
    ordered = np.sort(scores, axis=1)
    best, second = ordered[:, -1:], ordered[:, -2:-1]
    return scores - np.where(scores == best, second, best)


def platt(scores: Floats, hits: NDArray[np.bool_]) -> tuple[float, float]:
    """Return slope and offset of the logistic curve from a score to the probability of the class.

    Args:
        scores: Shape (n,).
        hits: Which rows are of the class, shape (n,).

    The targets are Platt's, a little inside 0 and 1, so that few lines promise little.
    """
    positive, negative = int(hits.sum()), int((~hits).sum())
    target = np.where(hits, (positive + 1) / (positive + 2), 1 / (negative + 2))
    design = np.stack([scores, np.ones_like(scores)], axis=1)
    curve = np.array([0.0, np.log((positive + 1) / (negative + 1))])
    for _ in range(50):  # Newton's method
        predicted = sigmoid(design @ curve)
        slope = design.T @ (predicted - target)
        bend = (design.T * (predicted * (1 - predicted))) @ design + 1e-9 * np.eye(2)
        step = np.linalg.solve(bend, slope)
        curve -= step * min(1.0, 4.0 / (np.abs(step).max() + 1e-12))
        if np.abs(step).max() < 1e-9:
            break
    return float(curve[0]), float(curve[1])


def sigmoid(values: Floats) -> Floats:
    """Return 1 / (1 + exp(-values))."""
    return 1 / (1 + np.exp(-np.clip(values, -500, 500)))
