"""What a number column may be, what a template tells of, and who proposes it."""

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
