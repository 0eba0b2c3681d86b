"""The classifier for templates that no signature knows: the nearest labelled exemplar.

SchedMate §3.2 compares a line's embedding with those of class descriptions. Labelled exemplars beside the descriptions do far better.
"""

import csv
from collections.abc import Sequence
from importlib import resources
from typing import Protocol

import numpy as np

from processors.grammar.extractor import DIGITS
from processors.models.embedder import Embedder

from .context import OTHER

THRESHOLD = 0.55
"""Cosine similarity below which nothing is said."""


class TemplateClassifier(Protocol):
    """Classifies templates (lines whose digits are masked), a few at a time."""

    def classify(self, templates: Sequence[str]) -> str:
        """Return one letter a template: e, w, p or o."""


class ExemplarClassifier:
    """Gives a template the class of its nearest exemplars, weighted by similarity.

    Args:
        embedder: Turns texts into vectors.
        threshold: Cosine similarity below which a template is `other`.
        neighbours: Exemplars that vote.
    """

    def __init__(self, embedder: Embedder, threshold: float = THRESHOLD, neighbours: int = 3) -> None:
        self._embedder = embedder
        self._threshold = threshold
        self._neighbours = neighbours
        rows = exemplars()
        self._letters = [letter for letter, _ in rows]
        self._vectors = embedder.embed([text.translate(DIGITS) for _, text in rows])

    def classify(self, templates: Sequence[str]) -> str:
        """Return one letter a template."""
        if not templates:
            return ""
        likeness = self._embedder.embed(templates) @ self._vectors.T
        letters = []
        for row in likeness:
            nearest = np.argsort(row)[::-1][: self._neighbours]
            if row[nearest[0]] < self._threshold:
                letters.append(OTHER)
                continue
            votes: dict[str, float] = {}
            for place in nearest:
                votes[self._letters[place]] = votes.get(self._letters[place], 0.0) + float(row[place])
            letters.append(max(votes, key=lambda letter: votes[letter]))
        return "".join(letters)


def exemplars() -> list[tuple[str, str]]:
    """Return the labelled exemplars and class descriptions: (letter, text)."""
    text = resources.files(__package__).joinpath("exemplars.tsv").read_text(encoding="utf-8")
    return [
        (row[0], row[1])
        for row in csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
        if len(row) == 2
    ]
