"""Classes of templates by their embeddings and their n-grams together: fitted at start, for any embedder, on examples that ship.

SchedMate §3.2 compares a line's vector with those of class descriptions. A linear model on labelled examples does far better, and
better still together with the one on n-grams (`benchmarks/classifier/README.md`).
"""

import csv
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .calibration import curves, likely
from .embedder import Embedder
from .linear import LETTERS, LinearModel

Floats = NDArray[np.float64]

EXAMPLES = "examples.tsv"
RIDGE = 3.0
"""Penalty on the weights (ridge regression)."""
SHARE = 3.0
"""Weight of a score by vectors, from -1 to 1, relative to a score by n-grams."""


class Example(NamedTuple):
    """A template whose class is known.

    Attributes:
        letter: e, w, p or o.
        fold: Examples of one tool are in one fold.
        asked: No signature knows it: such are what the model is asked about, and what it is calibrated on.
        scores: What a linear model on n-grams trained without its tool, a number a class.
        template: The template.
    """

    letter: str
    fold: int
    asked: bool
    scores: tuple[float, ...]
    template: str


class EmbeddedModel:
    """Ridge regression on vectors, added to the linear model on n-grams; calibrated on folds that leave whole tools out.

    Args:
        embedder: Turns templates into vectors; it is asked for all examples at once.
        linear: The model on n-grams.
        examples: What to learn from; those that ship where not given.
    """

    def __init__(self, embedder: Embedder, linear: LinearModel, examples: Sequence[Example] | None = None) -> None:
        self._embedder, self._linear = embedder, linear
        known = shipped() if examples is None else examples
        vectors = with_one(embedder.embed([each.template for each in known]))
        classes = np.array([LETTERS.index(each.letter) for each in known])
        folds = np.array([each.fold for each in known])
        asked = np.array([each.asked for each in known])
        unseen = np.array([each.scores for each in known]) + SHARE * left_out(vectors, classes, folds)
        self._weights = fit(vectors, classes)
        self._curves = curves(unseen[asked], classes[asked])

    def probabilities(self, templates: Sequence[str]) -> Floats:
        """Return how likely each template is of each class, shape (len(templates), 4). A row need not add up to 1."""
        if not templates:
            return np.empty((0, len(LETTERS)))
        by_vector = with_one(self._embedder.embed(templates)) @ self._weights
        return likely(self._linear.scores(templates) + SHARE * by_vector, self._curves)


def fit(vectors: Floats, classes: NDArray[np.int64]) -> Floats:
    """Return the weights of a ridge regression on the classes, shape (d, 4). Each class weighs by the root of its count."""
    count = np.bincount(classes, minlength=len(LETTERS))
    weight = 1 / np.sqrt(np.maximum(count, 1))[classes]
    weight *= len(classes) / weight.sum()
    target = np.where(classes[:, None] == np.arange(len(LETTERS)), 1.0, -1.0)
    scaled = vectors.T * weight
    return np.asarray(np.linalg.solve(scaled @ vectors + RIDGE * np.eye(vectors.shape[1]), scaled @ target))


def left_out(vectors: Floats, classes: NDArray[np.int64], folds: NDArray[np.int64]) -> Floats:
    """Return the scores of each example by a model that was fitted without its fold, shape (n, 4)."""
    scores = np.zeros((len(classes), len(LETTERS)))
    for fold in np.unique(folds):
        out = folds == fold
        scores[out] = vectors[out] @ fit(vectors[~out], classes[~out])
    return scores


def shipped() -> list[Example]:
    """Return the examples that ship."""
    text = resources.files(__package__).joinpath(EXAMPLES).read_text(encoding="utf-8")
    rows = csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        Example(row[0], int(row[1]), row[2] == "1", tuple(map(float, row[3].split())), "\t".join(row[4:]))
        for row in rows
    ]


def with_one(vectors: NDArray[np.float32]) -> Floats:
    """Return `vectors` with a column of ones, for the offset."""
    return np.concatenate([vectors.astype(np.float64), np.ones((len(vectors), 1))], axis=1)
