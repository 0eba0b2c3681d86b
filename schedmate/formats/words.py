"""Numbers of log lines and their meanings, in words."""

from collections.abc import Sequence

from processors.formats.answer import ColumnAnswer
from processors.formats.templates import number_spans, surroundings
from processors.formats.units import NONE, TIMES
from processors.grammar.prefix import clean
from schedmate_records import ColumnMeaning, ColumnRole, TemplateFormat

_BEFORE = 24
"""Characters before a number that are shown: the name of a number is rarely longer."""


def numbers_in_words(line: str) -> Sequence[str]:
    """Return the numbers of `line`, each after the text before it."""
    line = clean(line)
    texts = surroundings(line)
    return [
        f"{texts[index][-_BEFORE:].lstrip() if index < len(texts) else ''}{line[begin:end]}"
        for index, (begin, end) in enumerate(number_spans(line))
    ]


def meaning_in_words(meaning: ColumnAnswer | ColumnMeaning) -> str:
    """Return what a number means; `-` for no meaning."""
    if meaning.role is ColumnRole.OTHER:
        return "-"
    unit = f" in {meaning.unit}" if meaning.unit != NONE else ""
    covers = f", over {meaning.steps} steps" if meaning.role in TIMES and meaning.steps > 1 else ""
    return f"{str(meaning.role).replace('_', ' ')}{unit}{covers}"


def template_in_words(template: TemplateFormat) -> str:
    """Return the numbers of a template's sample line with their meanings."""
    numbers = numbers_in_words(template.sample)
    return "; ".join(
        f"{numbers[each.column]}: {meaning_in_words(each)}" for each in template.columns if each.column < len(numbers)
    )
