"""What a number column may be, what a template tells of, and who proposes it."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from .series import TemplateSeries


class Role(StrEnum):
    """What the numbers of one column are."""

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
    """What the lines of a template tell of."""

    TRAINING = "training"
    EVALUATION = "evaluation"
    OTHER = "other"


class Proposed(NamedTuple):
    """What a template may tell of.

    Attributes:
        roles: For each of its columns a probability a role; they sum to 1.
        phases: A probability a phase; they sum to 1.
    """

    roles: list[dict[Role, float]]
    phases: dict[Phase, float]


class Proposer(Protocol):
    """Says how likely each role of a column, and each phase of a template, is. A prior: the solver decides."""

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
    """Return what a counter of this name may count, by a word in it; None where none tells."""
    return next((role for pattern, role in _COUNTED if pattern.search(name)), None)
