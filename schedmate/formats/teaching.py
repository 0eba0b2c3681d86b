"""The dialogue in which a person states what the lines of a log format mean, starting from an answer that is known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from processors.formats.answer import ColumnAnswer, FormatAnswer
from processors.formats.layout import numbered_columns
from processors.formats.units import NONE, UNITS, fits
from schedmate_records import ColumnRole, FormatQuestion, Reports

from .words import meaning_in_words, numbers_in_words

_SHOWN = 120
"""Characters of a line that are shown."""
TEMPLATES = 6
"""Templates that a person is asked about: the most important ones come first."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The two ways in which a person is addressed.

    Attributes:
        show: Shows a line.
        choose: Asks for one of several choices and returns it; called with the question, the choices and the default.
    """

    show: Callable[[str], None]
    choose: Callable[[str, Sequence[str], str], str]


def teach(question: FormatQuestion, known: FormatAnswer, dialogue: Dialogue) -> FormatAnswer:
    """Ask a person about each template of `question` and return the answer. What `known` states is offered as default."""
    dialogue.show("Last lines of the log:")
    for line in question.tail[-3:]:
        dialogue.show(f"  {line[:_SHOWN]}")
    trains = "yes" if known.training else "no"
    if dialogue.choose("Does this log report a training?", ("yes", "no"), trains) == "no":
        return FormatAnswer(training=False, templates={}, columns=[])
    templates: dict[int, Reports] = {}
    columns: list[ColumnAnswer] = []
    for number in range(1, min(len(question.templates), TEMPLATES) + 1):
        template = question.templates[number - 1]
        dialogue.show(f"\nTemplate {number} of {min(len(question.templates), TEMPLATES)}, {template.count} lines:")
        dialogue.show(f"  {template.lines[-1][:_SHOWN]}")
        default = known.templates.get(number, Reports.NEITHER)
        templates[number] = Reports(
            dialogue.choose("What do these lines report?", [str(each) for each in Reports], str(default))
        )
        if templates[number] is Reports.TRAINING:
            columns += _columns(question, number, known, dialogue)
    return FormatAnswer(training=True, templates=templates, columns=columns)


def _columns(question: FormatQuestion, number: int, known: FormatAnswer, dialogue: Dialogue) -> list[ColumnAnswer]:
    """Return the meanings of the columns of a training template: the rules' where the person agrees, else the person's."""
    defaults = {each.column: each for each in known.columns}
    own = [
        (column, place.index)
        for column, place in enumerate(numbered_columns(question), start=1)
        if place.template == number
    ]
    numbers = numbers_in_words(question.templates[number - 1].lines[-1])
    width = max(map(len, numbers), default=0)
    for column, index in own:
        dialogue.show(f"  {numbers[index]:<{width}}  {meaning_in_words(defaults.get(column, _ignore(column)))}")
    if dialogue.choose("Is that right?", ("yes", "no"), "yes" if any(c in defaults for c, _ in own) else "no") == "yes":
        return [defaults[column] for column, _ in own if column in defaults]
    return [
        meaning
        for column, index in own
        if (meaning := _ask(numbers[index], defaults.get(column, _ignore(column)), dialogue)).role
        is not ColumnRole.OTHER
    ]


def _ask(shown: str, default: ColumnAnswer, dialogue: Dialogue) -> ColumnAnswer:
    role = ColumnRole(
        dialogue.choose(f"  {shown}: what is this number?", [str(each) for each in ColumnRole], str(default.role))
    )
    possible = [unit for unit in UNITS if fits(role, unit)]
    unit = default.unit if default.unit in possible else possible[0]
    if len(possible) > 1:
        unit = dialogue.choose("  In which unit?", possible, unit)
    answer = replace(default, role=role, unit=unit, steps=1)
    if role is ColumnRole.STEP_TIME:
        covered = dialogue.choose(
            "  How many steps does it cover? (0: those since the line before)", (), str(default.steps or 1)
        )
        steps = int(covered) if covered.isdecimal() else 1
        answer = replace(answer, steps=max(steps, 1), role=role if steps else ColumnRole.REPORT_TIME)
    return answer


def _ignore(column: int) -> ColumnAnswer:
    return ColumnAnswer(column, ColumnRole.OTHER, NONE, 1)
