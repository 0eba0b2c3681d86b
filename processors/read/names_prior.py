"""A proposer that knows the usual names of fields and nothing else. Names are a prior, no verdict: none is sure."""

import re
from collections.abc import Sequence
from functools import lru_cache

from processors.grammar.extractor import read_plan
from processors.grammar.names import Meaning, evaluation, loss_rank
from processors.grammar.slots import Slot
from processors.grammar.units import TOKENS

from .roles import Phase, Role
from .series import SLOT, Column, TemplateSeries

_SURE = 0.8
_ROLES = {
    Meaning.STEP: Role.STEP,
    Meaning.EPOCH: Role.EPOCH,
    Meaning.TOTAL: Role.END,
    Meaning.STEP_TIME: Role.INTERVAL,
    Meaning.TIME: Role.INTERVAL,
    Meaning.CLOCK: Role.ELAPSED,
    Meaning.LEFT: Role.REMAINING,
    Meaning.RATE: Role.RATE,
}
_COUNTED: tuple[tuple[re.Pattern[str], Role], ...] = (
    (re.compile(r"(?i)token"), Role.TOKEN),
    (re.compile(r"(?i)sample|example|image|sequence|seq_"), Role.SAMPLE),
    (re.compile(r"(?i)step|iter|update|batch"), Role.STEP),
    (re.compile(r"(?i)epoch"), Role.EPOCH),
)
_FIRST_WORD = re.compile(r"[ ]?[A-Za-z_]*+")
_PART_RANK = 3
"""Rank of a loss's name (`names.loss_rank`) from which it is that of a part."""


class NamesPrior:
    """Proposes roles by the names that stand around numbers, as the grammar of fields reads them."""

    def roles(self, series: Sequence[TemplateSeries]) -> list[list[dict[Role, float]]]:
        """Return for each template, and each of its columns, a probability a role; they sum to 1."""
        return [self._of_template(each) for each in series]

    def phases(self, series: Sequence[TemplateSeries]) -> list[dict[Phase, float]]:
        """Return for each template a probability a phase; they sum to 1."""
        return [_phase(each) for each in series]

    @staticmethod
    def _of_template(series: TemplateSeries) -> list[dict[Role, float]]:
        slots = _slots(_representative(series))
        return [_spread(_role(slots.get(column.index)), column) for column in series.columns]


@lru_cache(maxsize=2048)
def _slots(line: str) -> dict[int, Slot]:
    return {slot.index: slot for slot in read_plan(line).slots}


def _representative(series: TemplateSeries) -> str:
    """Return a line of the template whose numbers have the form of its own; of a number only the form counts."""
    text = series.text
    for column in series.columns:
        number = "1" if column.integer else "1:11" if column.duration else f"1.{'1' * column.decimals}"
        text = text.replace(SLOT, number, 1)
    return text


def _role(slot: Slot | None) -> Role | None:
    if slot is None:
        return None
    if slot.meaning is Meaning.LOSS:
        return Role.LOSS if loss_rank(slot.name) <= _PART_RANK else Role.LOSS_PART
    if slot.meaning is Meaning.COUNT:
        return Role.TOKEN if slot.unit == TOKENS else Role.SAMPLE
    return _ROLES.get(slot.meaning)


def _spread(role: Role | None, column: Column) -> dict[Role, float]:
    """Return `role` as likely, and what else the form of the numbers allows."""
    if role is None and column.integer:
        role = counted(column.before) or counted(_first_word(column.after))
    if role is None:
        few = {Role.STEP: 0.1, Role.EPOCH: 0.05} if column.integer else {Role.LOSS: 0.05}
        return {**few, Role.OTHER: 1 - sum(few.values())}
    rest = [Role.STEP, Role.SAMPLE, Role.EPOCH] if column.integer else [Role.LOSS, Role.LOSS_PART]
    rest = [each for each in rest if each is not role]
    return {
        role: _SURE,
        **dict.fromkeys(rest, (1 - _SURE) / (len(rest) + 1)),
        Role.OTHER: (1 - _SURE) / (len(rest) + 1),
    }


def counted(name: str) -> Role | None:
    """Return what a counter of this name may count, by a word in it; None where none tells."""
    return next((role for pattern, role in _COUNTED if pattern.search(name)), None)


def _first_word(text: str) -> str:
    found = _FIRST_WORD.match(text)
    return found[0] if found else ""


def _phase(series: TemplateSeries) -> dict[Phase, float]:
    bar, _, _ = series.text.partition("▉")
    first = bar if bar != series.text else SLOT.join(series.text.split(SLOT)[:2])
    if evaluation(first) and "train" not in first.lower():
        return {Phase.TRAINING: 0.1, Phase.EVALUATION: 0.8, Phase.OTHER: 0.1}
    return {Phase.TRAINING: 0.6, Phase.EVALUATION: 0.1, Phase.OTHER: 0.3}
