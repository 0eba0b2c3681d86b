"""Recorded answers about formats, which hold regular expressions, as the closed answers that the question asks for."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from processors.formats.layout import numbered_columns
from processors.formats.templates import number_spans
from processors.grammar.prefix import clean
from schedmate_records import FormatQuestion

_ROLES = {
    "step": "step",
    "in_epoch": "epoch_step",
    "in_epoch_total": "epoch_step_total",
    "epoch": "epoch",
    "loss": "loss",
    "step_time": "step_time",
    "rate": "rate",
}
"""Role of each named group of a recorded expression."""
_RATE_UNITS = {"it/s": "steps/s", "step/s": "steps/s", "iter/s": "steps/s", "s/it": "s/step"}


def closed_answer(recorded: Mapping[str, Any], question: FormatQuestion) -> dict[str, Any]:
    """Return the closed answer that `recorded` amounts to.

    A template reports the training if an expression matches one of its sample lines. A column has the role of the group at
    the place of its number.
    """
    expressions = [re.compile(each) for each in (recorded["reports"] or [recorded["report"]]) if each]
    places = {(place.template, place.index): number for number, place in enumerate(numbered_columns(question), start=1)}
    templates, columns = [], []
    for number, template in enumerate(question.templates, start=1):
        roles = _roles(expressions, template.lines)
        if roles is None:
            continue
        templates.append({"template": number, "reports": "training"})
        for index, role in roles.items():
            if (column := places.get((number, index))) is not None:
                columns.append(_column(column, role, recorded))
    return {"training": "yes" if recorded["training"] else "no", "templates": templates, "columns": columns}


def _roles(expressions: Sequence[re.Pattern[str]], lines: Sequence[str]) -> dict[int, str] | None:
    """Return the role of each number that a group matches; None where no expression matches a line."""
    found: dict[int, str] | None = None
    for line in map(clean, lines):
        for expression in expressions:
            if match := expression.search(line):
                found = {} if found is None else found
                spans = number_spans(line)
                for group in match.groupdict():
                    for index, (begin, end) in enumerate(spans):
                        if begin <= match.start(group) < end or match.start(group) <= begin < match.end(group):
                            found.setdefault(index, _ROLES[group])
                            break
    return found


def _column(column: int, role: str, recorded: Mapping[str, Any]) -> dict[str, Any]:
    unit, steps = "none", 1
    if role == "step_time":
        unit, covered = recorded["step_time_unit"] or "s", recorded["step_time_steps"]
        steps = 0 if covered == "since_last" else int(covered or 1)
    elif role == "rate":
        unit = _RATE_UNITS.get(recorded["rate_unit"] or "", recorded["rate_unit"] or "samples/s")
        unit = unit if unit.partition("/")[0] in ("steps", "samples", "tokens", "s") else "samples/s"
    return {"column": column, "role": role, "unit": unit, "steps": steps}
