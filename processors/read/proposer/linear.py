"""A small linear model for the probabilities of the roles of columns and the phases of templates.

Two softmax regressions on hashed n-grams of the text around a number and on how its values behave. `benchmarks/proposer/train.py` trains
them and scores them on frameworks that they have not seen. The weights are in this folder. The probabilities are a
prior; the assignment decides.
"""

from collections.abc import Sequence
from importlib import resources
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ..roles import Phase, Proposed, Role
from ..series import TemplateSeries
from .features import BUCKETS, Floats, column_buckets, numeric, template_buckets

WEIGHTS = "proposer.npz"
ROLES, PHASES = tuple(Role), tuple(Phase)
TEXT_LENGTH = 2.0
"""Length of the vector of n-grams."""


class Softmax:
    """A softmax regression on buckets of text and numbers that are compared with edges.

    Attributes:
        text: Weights of the buckets, shape (buckets, classes).
        numbers: Weights of the numbers and of their bins, shape (numbers * (1 + edges), classes).
        bias: Shape (classes,).
        edges: What each number is compared with, shape (numbers, edges).
        temperature: What scores are divided by, so that probabilities are calibrated.
    """

    def __init__(self, text: Floats, numbers: Floats, bias: Floats, edges: Floats, temperature: float = 1.0) -> None:
        self.text, self.numbers, self.bias, self.edges, self.temperature = text, numbers, bias, edges, temperature

    def probabilities(self, buckets: Sequence[Sequence[int]], numbers: Floats) -> Floats:
        """Return the probability of each class, shape (len(buckets), classes)."""
        scores = binned(numbers, self.edges) @ self.numbers + self.bias
        for row, found in enumerate(buckets):
            if found:
                scores[row] += self.text[list(found)].sum(axis=0) * (TEXT_LENGTH / len(found) ** 0.5)
        scores /= self.temperature
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """Return what `load` reads: the text's weights in eight bits with a scale a class."""
        scale = np.maximum(np.abs(self.text).max(axis=0) / 127, 1e-9)
        return {
            f"{name}_text": np.round(self.text / scale).astype(np.int8),
            f"{name}_scale": scale.astype(np.float32),
            f"{name}_numbers": self.numbers.astype(np.float16),
            f"{name}_bias": self.bias.astype(np.float32),
            f"{name}_edges": self.edges.astype(np.float32),
            f"{name}_temperature": np.float32(self.temperature),
        }

    @classmethod
    def load(cls, stored: "np.lib.npyio.NpzFile", name: str) -> "Softmax":
        """Return the model of `name` in a file of weights."""
        return cls(
            stored[f"{name}_text"].astype(np.float64) * stored[f"{name}_scale"],
            stored[f"{name}_numbers"].astype(np.float64),
            stored[f"{name}_bias"].astype(np.float64),
            stored[f"{name}_edges"].astype(np.float64),
            float(stored[f"{name}_temperature"]),
        )


def binned(numbers: Floats, edges: Floats) -> Floats:
    """Return the numbers, and which of its edges each exceeds, shape (rows, numbers * (1 + edges))."""
    above = (numbers[:, :, None] > edges[None]).reshape(len(numbers), -1)
    return np.concatenate([numbers, above.astype(np.float64)], axis=1)


class LinearProposer:
    """Proposes roles and phases (`processors.read.roles.Proposer`).

    Args:
        of_columns: Classes are `ROLES`.
        of_templates: Classes are `PHASES`.
    """

    def __init__(self, of_columns: Softmax, of_templates: Softmax) -> None:
        self.of_columns, self.of_templates = of_columns, of_templates

    @classmethod
    def load(cls, file: IO[bytes] | None = None) -> "LinearProposer":
        """Return the model in `file`; without one, the model that ships."""
        if file is None:
            with resources.files(__package__).joinpath(WEIGHTS).open("rb") as shipped:
                return cls.load(shipped)
        with np.load(file) as stored:
            return cls(Softmax.load(stored, "columns"), Softmax.load(stored, "templates"))

    def save(self, file: IO[bytes]) -> None:
        """Write what `load` reads."""
        np.savez_compressed(file, **self.of_columns.arrays("columns"), **self.of_templates.arrays("templates"))  # type: ignore[arg-type]

    def propose(self, series: Sequence[TemplateSeries]) -> list[Proposed]:
        """Return what is proposed of each template."""
        return [
            Proposed(
                [dict(zip(ROLES, row, strict=True)) for row in rows.tolist()], dict(zip(PHASES, phases, strict=True))
            )
            for rows, phases in zip(*self.probabilities(series), strict=True)
        ]

    def probabilities(self, series: Sequence[TemplateSeries]) -> tuple[list[Floats], Floats]:
        """Return the probabilities of roles, for each template of shape (columns, roles), and of phases, shape (templates, phases)."""
        if not series:
            return [], np.zeros((0, len(PHASES)))
        numbers = numeric(series)
        found = self.of_columns.probabilities(
            [column_buckets(template, column) for template in series for column in template.columns],
            np.concatenate(numbers),
        )
        ends = np.cumsum([len(template.columns) for template in series])
        roles = np.split(found, ends[:-1])
        phases = self.of_templates.probabilities(
            [template_buckets(template) for template in series],
            np.array([summary(rows, values) for rows, values in zip(roles, numbers, strict=True)]),
        )
        return roles, phases


def summary(roles: Floats, numbers: Floats) -> Floats:
    """Return the numbers for the phase of a template: the highest probability of each role, and the features of the template."""
    if not len(roles):
        return np.zeros(len(ROLES) + 8)
    return np.concatenate([roles.max(axis=0), numbers[0, -8:]])


__all__ = ["BUCKETS", "PHASES", "ROLES", "LinearProposer", "Softmax", "binned", "summary"]
