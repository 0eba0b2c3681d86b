"""The table that combines the opinions of rules and model by their confidences."""

from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from schedmate_records import Certainty, ErrorType, Failure

ASKED_BELOW = 0.9
"""Confidence of the rules below which a model is asked."""
LIKELY = 0.7
"""Confidence of the rules from which they keep error type and root line. Tuned on the labelled logs."""


class Band(StrEnum):
    """How confident the rules are."""

    NONE = "none"
    UNSURE = "unsure"
    LIKELY = "likely"


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row; `table.toml` explains the fields."""

    cause: Literal["rules", "model"]
    restartable: Literal["rules", "model"]
    confidence: float
    cases: int = 0
    rules_right: int = 0
    model_right: int = 0


Table = dict[Band, dict[Certainty, Row]]


def band(verdict: Failure | None) -> Band:
    """Return how confident the rules are in `verdict`; None for no verdict."""
    if verdict is None or verdict.error_type in {ErrorType.NONE, ErrorType.UNKNOWN}:
        return Band.NONE
    return Band.LIKELY if verdict.confidence >= LIKELY else Band.UNSURE


@cache
def shipped() -> Table:
    """Return the table that ships."""
    text = resources.files(__package__).joinpath("table.toml").read_bytes()
    return msgspec.toml.decode(text, type=Table)
