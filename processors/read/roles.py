"""Roles of number columns, phases of templates, and the interface of what proposes them."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from .series import TemplateSeries


class Role(StrEnum):
    """Role of the numbers of a column."""

    STEP = "step"
    SAMPLE = "sample"
    TOKEN = "token"  # noqa: S105  # of a language model
    EPOCH = "epoch"
    LOSS = "loss"
    LOSS_PART = "loss_part"
    INTERVAL = "interval"
    ELAPSED = "elapsed"
    REMAINING = "remaining"
    RATE = "rate"
    BATCH_SIZE = "batch_size"
    SEQUENCE_LENGTH = "sequence_length"
    END = "end_of_counter"
    OTHER = "other"


class Phase(StrEnum):
    """Part of a job that the lines of a template report."""

    TRAINING = "training"
    EVALUATION = "evaluation"
    OTHER = "other"


class Proposed(NamedTuple):
    """Proposed roles and phases of one template.

    Attributes:
        roles: For each of its columns a probability a role; they sum to 1.
        phases: A probability a phase; they sum to 1.
    """

    roles: list[dict[Role, float]]
    phases: dict[Phase, float]


class Proposer(Protocol):
    """Proposes probabilities of the roles of columns and the phases of templates. They are a prior; the assignment decides."""

    def propose(self, series: Sequence[TemplateSeries]) -> list[Proposed]:
        """Return what is proposed of each template."""
        ...


_COUNTED: tuple[tuple[re.Pattern[str], Role], ...] = (
    (re.compile(r"(?i)token"), Role.TOKEN),
    (re.compile(r"(?i)sample|example|image|sequence|seq_"), Role.SAMPLE),
    (re.compile(r"(?i)step|iter|update|batch"), Role.STEP),
    (re.compile(r"(?i)epoch"), Role.EPOCH),
)


def counted(name: str) -> Role | None:
    """Return what a counter of this name may count, by a word in it; None without such a word."""
    return next((role for pattern, role in _COUNTED if pattern.search(name)), None)
