"""The table that combines the opinions of rules and model by their confidences."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from schedmate_records import RULES, Certainty, ErrorType, Failure, Opinion

ASKED_BELOW = 0.9
"""Confidence of the rules below which a model is asked."""
LIKELY = 0.7
"""Confidence of the rules from which they keep error type and root line. Tuned on the labelled logs."""


CONFIDENCE = {Certainty.LOW: 0.3, Certainty.MEDIUM: 0.6, Certainty.HIGH: 0.9}
"""Confidence of a model's opinion, by the certainty that it states."""
FEEDBACK = 3
"""By how many corrections of people the other side must be right more often before it decides the cause."""


class Band(StrEnum):
    """Confidence of the rules."""

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


def band(verdict: Failure | Opinion | None) -> Band:
    """Return how confident the rules are in `verdict`; None for no verdict."""
    if verdict is None or verdict.error_type in {ErrorType.NONE, ErrorType.UNKNOWN}:
        return Band.NONE
    return Band.LIKELY if verdict.confidence >= LIKELY else Band.UNSURE


@cache
def shipped() -> Table:
    """Return the table that ships."""
    return parse(resources.files(__package__).joinpath("table.toml").read_bytes())


def parse(text: bytes) -> Table:
    """Return the table in `text` (TOML). Raises `ValueError` where it is none, or lacks a row."""
    table = msgspec.toml.decode(text, type=Table)
    missing = [f"{one}.{other}" for one in Band for other in Certainty if other not in table.get(one, {})]
    if missing:
        raise ValueError(f"expected a row for each band and certainty, {', '.join(missing)} are missing")
    return table


def corrected(table: Table, cases: Iterable[tuple[Sequence[Opinion], ErrorType]]) -> Table:
    """Return `table` with what people state of verdicts counted: the opinions of rules and model, and the right error type.

    The side that is right more often decides the cause, if the corrections alone favour it clearly.
    """
    made = {one: dict(rows) for one, rows in table.items()}
    for opinions, truth in cases:
        rules = next((each for each in opinions if each.by == RULES), None)
        model = next((each for each in opinions if each.by != RULES), None)
        certainty = next((one for one, value in CONFIDENCE.items() if model and model.confidence == value), None)
        if rules is None or model is None or certainty is None:
            continue
        row = made[band(rules)][certainty]
        made[band(rules)][certainty] = msgspec.structs.replace(
            row,
            cases=row.cases + 1,
            rules_right=row.rules_right + (rules.error_type is truth),
            model_right=row.model_right + (model.error_type is truth),
        )
    return {one: {each: _decided(row, table[one][each]) for each, row in rows.items()} for one, rows in made.items()}


def _decided(row: Row, before: Row) -> Row:
    lead, former = row.model_right - row.rules_right, before.model_right - before.rules_right
    if lead > 0 and lead - former >= FEEDBACK:
        return msgspec.structs.replace(row, cause="model")
    return msgspec.structs.replace(row, cause="rules") if lead < 0 and former - lead >= FEEDBACK else row


def as_toml(table: Table) -> Iterator[str]:
    """Yield the lines of a file that `parse` reads."""
    for one, rows in table.items():
        for certainty, row in rows.items():
            yield f"[{one}.{certainty}]"
            values = msgspec.structs.asdict(row).items()
            yield from (f"{name} = {msgspec.json.encode(value).decode()}" for name, value in values)
            yield ""
