"""The classifier for templates that no signature knows: a linear model on n-grams; with an embedder, one on embeddings too."""

from collections.abc import Sequence
from typing import Protocol

from .context import OTHER
from .embedded import EmbeddedModel
from .embedder import Embedder
from .linear import LETTERS, LinearModel

THRESHOLD = 0.6
"""Probability of a class below which a template is `other`. Probabilities are calibrated: it means the same for every class."""


class TemplateClassifier(Protocol):
    """Classifies templates (lines whose digits are masked), a few at a time."""

    def classify(self, templates: Sequence[str]) -> str:
        """Return one letter a template: e, w, p or o."""


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
        linear = linear or LinearModel.load()
        self._model = linear if embedder is None else EmbeddedModel(embedder, linear)
        self._threshold = threshold

    def classify(self, templates: Sequence[str]) -> str:
        """Return one letter a template."""
        if not templates:
            return ""
        likely = self._model.probabilities(templates)
        return "".join(LETTERS[row.argmax()] if row.max() >= self._threshold else OTHER for row in likely)
