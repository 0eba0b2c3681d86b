"""The classifier for templates that no signature knows: a linear model on n-grams; with an embedder, one on embeddings too."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from prometheus_client import Counter

from .context import OTHER
from .embedded import EmbeddedModel
from .embedder import Embedder, EmbedderAway
from .linear import LETTERS, LinearModel

THRESHOLD = 0.6
"""Probability of a class below which a template is `other`. Probabilities are calibrated: it means the same for every class."""


class TemplateClassifier(Protocol):
    """Classifies templates (lines whose digits are masked), a few at a time."""

    def classify(self, templates: Sequence[str]) -> str:
        """Return one letter a template: e, w, p or o."""


class ModelClassifierMetrics:
    """Counters of the embedder."""

    def __init__(self) -> None:
        self.with_embedder = Counter(
            "schedmate_classifier_with_embedder", "Templates classified with the embedder.", registry=None
        )
        self.without = Counter(
            "schedmate_classifier_without_embedder",
            "Templates classified by n-grams only, because the embedder was unavailable.",
            registry=None,
        )


class ModelClassifier:
    """Gives a template its likeliest class.

    Args:
        embedder: What a second model rests on; without one n-grams decide alone.
        threshold: Probability below which a template is `other`.
        linear: The model on n-grams; the one that ships where not given.
    """

    def __init__(
        self, embedder: Embedder | None = None, threshold: float = THRESHOLD, linear: LinearModel | None = None
    ) -> None:
        self._linear, self._embedder, self._threshold = linear or LinearModel.load(), embedder, threshold
        self._embedded: EmbeddedModel | None = None
        self.metrics = ModelClassifierMetrics()
        self.probabilities(())  # the second model is fitted now, where its embedder is there

    def classify(self, templates: Sequence[str]) -> str:
        """Return one letter a template."""
        if not templates:
            return ""
        likely = self.probabilities(templates)
        return "".join(LETTERS[row.argmax()] if row.max() >= self._threshold else OTHER for row in likely)

    def probabilities(self, templates: Sequence[str]) -> NDArray[np.float64]:
        """Return how likely each template is of each class, shape (len(templates), 4); by n-grams alone while the embedder is away."""
        if self._embedder is not None:
            try:
                self._embedded = self._embedded or EmbeddedModel(self._embedder, self._linear)
                likely = self._embedded.probabilities(templates)
            except EmbedderAway:
                self.metrics.without.inc(len(templates))
            else:
                self.metrics.with_embedder.inc(len(templates))
                return likely
        return self._linear.probabilities(templates)
