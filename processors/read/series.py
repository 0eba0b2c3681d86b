"""From lines to number series: every format becomes templates with columns of numbers, each value with its place and time.

A template is a line without its prefix (rank, time, level, logger), its dates and its numbers. JSON, dict prints, key=value, bars
and plain text need no reader of their own: the text around a number holds its name and unit in all of them. The cells of a table take
the names of its header.
"""

import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from ..grammar import stamps
from ..grammar.cache import GenerationCache
from ..grammar.extractor import DIGITS, LONGEST, message_of
from ..grammar.numbers import NUMBER, is_duration, parse, with_point
from ..grammar.prefix import clean

COLUMNS = 48
"""Numbers of a line that become columns."""

FORMS = 4096
"""Forms of lines whose template is surely remembered."""

BEFORE, AFTER = 48, 24
"""Characters that a column keeps of the text on its two sides, at most up to the neighbouring numbers."""

SLOT, BAR = "{}", "▉"
"""Text in a template in place of a number, and of the drawing of a bar."""
_SINCE_1970 = (1.0e9, 2.2e9)
"""2001 to 2039."""
_FORMS = {
    "bar": re.compile(
        r"(?<=\|)[\u2500-\u259f#=>.\- ]{3,}(?=\|)|(?<=\[)[=>.#\- ]{3,}(?=\])|[\u2500-\u259f]+\s*|[#█=>.]{4,}+"
    ),
    "blanks": re.compile(r"\s+"),
    "letter": re.compile(r"[^\W\d_]"),
    "of_time": re.compile(r"(?i)time|stamp|\bts\b|date|clock|:::"),
}


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """The numbers at one slot of a template.

    Attributes:
        index: Which slot, from 0.
        before: Text between the number before it, or the begin of the line, and this one.
        after: Text up to the next number or the end of the line.
        values: One a row, oldest first; durations in seconds.
        decimals: Most decimals that were printed.
        duration: Printed as `h:mm:ss`, `2m 5s` or the like.
    """

    index: int
    before: str
    after: str
    values: tuple[float, ...]
    decimals: int = 0
    duration: bool = False

    @property
    def integer(self) -> bool:
        """Whether only whole numbers were printed."""
        return not self.decimals and not self.duration


@dataclass(frozen=True, slots=True)
class TemplateSeries:
    """The newest rows of one template, oldest first.

    Attributes:
        key: Checksum of `text`.
        text: The template, its numbers replaced by `{}`.
        columns: Its number columns, left to right.
        places: Line number of each row.
        arrivals: Arrival of each row, in seconds since 1970.
        stamps: Time printed in each row, in seconds since an origin of its own; None without one.
        ranks: Rank that a launcher printed before each row; None without one.
        count: Rows seen, those that are no longer kept included.
    """

    key: int
    text: str
    columns: tuple[NumberColumn, ...]
    places: tuple[int, ...]
    arrivals: tuple[float, ...]
    stamps: tuple[float | None, ...]
    ranks: tuple[int | None, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Row:
    """The template of a line and its numbers."""

    template: "LineTemplate"
    values: tuple[float, ...]
    line: int
    arrival: float
    stamp: float | None
    rank: int | None


@dataclass(frozen=True, slots=True)
class LineTemplate:
    """Template of lines that differ only in digits.

    Attributes:
        text: The template.
        key: Its checksum.
        around: The text before and after each number.
        places: Begin and end of each number in the cleaned line.
        decimals: Decimals of each number.
        durations: Whether each number is printed as a duration.
        stamp: Begin and end of the printed time; None without one.
        since_1970: Number that is the time of the line; -1 without one.
        rank: Begin and end of the launcher's rank; None without one.
        bare: It holds no word: a row of a table, if anything.
        header: The names of its columns, where a header above gives them.
    """

    text: str
    key: int
    around: tuple[tuple[str, str], ...]
    places: tuple[tuple[int, int], ...]
    decimals: tuple[int, ...]
    durations: tuple[bool, ...]
    stamp: tuple[int, int] | None = None
    since_1970: int = -1
    rank: tuple[int, int] | None = None
    bare: bool = False
    header: tuple[str, ...] = ()

    def columns(self, rows: Sequence[Sequence[float | None]], most: int) -> tuple[NumberColumn, ...]:
        """Return the first `most` columns of rows of numbers, null for what is none."""
        return tuple(
            NumberColumn(
                index,
                before,
                after,
                tuple(math.nan if (value := row[index]) is None else value for row in rows),
                self.decimals[index],
                self.durations[index],
            )
            for index, (before, after) in enumerate(self.around[:most])
        )


def line_template(line: str, header: Sequence[str] = ()) -> LineTemplate | None:
    """Return the template of a cleaned line; None where it holds no number.

    Args:
        line: A line without colours and line ends.
        header: Names of the columns, where it is a row of a table of that many.
    """
    message = message_of(line)
    prefixed, body, start, stamp = message.prefixed, message.body, message.start, message.stamp
    if not line.endswith(prefixed.body):
        return None  # where it was cut, what remains is cleaned once more
    numbers = list(NUMBER.finditer(body))[:COLUMNS]
    if not numbers:
        return None
    edges = [0, *(number.end() for number in numbers)]
    texts = [_FORMS["bar"].sub(BAR, body[edge : number.start()]) for edge, number in zip(edges, numbers, strict=False)]
    texts.append(_FORMS["bar"].sub(BAR, body[edges[-1] :]))
    bare = len(numbers) > 1 and not any(map(_FORMS["letter"].search, texts))
    row = bare and len(header) == len(numbers)
    if row:
        text = " ".join(f"{name}: {SLOT}" for name in header)
        around = tuple((f"{name}: ", "") for name in header)
    else:
        text = _FORMS["blanks"].sub(" ", SLOT.join(texts)).strip()
        around = tuple((texts[i][-BEFORE:], texts[i + 1][:AFTER]) for i in range(len(numbers)))
    places = tuple((start + found.start(1), start + found.end(1)) for found in numbers)
    printed = [with_point(found[1]) for found in numbers]
    return LineTemplate(
        text,
        zlib.crc32(text.encode()),
        around,
        places,
        tuple(map(_decimals, printed)),
        tuple(map(is_duration, printed)),
        stamp,
        -1 if stamp else _clock(line, around, places),
        prefixed.rank,
        bare,
        tuple(header) if row else (),
    )


def _decimals(text: str) -> int:
    """Return how many decimals a number is printed with; those of an exponent count."""
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2].rstrip("kmgs"))
    return max(0, decimals - int(exponent)) if exponent.lstrip("+-").isdigit() else decimals


def _clock(line: str, around: tuple[tuple[str, str], ...], places: tuple[tuple[int, int], ...]) -> int:
    """Return which number is the time of the line in seconds or milliseconds since 1970; -1 for none."""
    for index, ((before, _), (begin, end)) in enumerate(zip(around, places, strict=True)):
        if end - begin >= 10 and _FORMS["of_time"].search(before) and since_1970(number(line[begin:end])) is not None:
            return index
    return -1


def since_1970(value: float) -> float | None:
    """Return `value`, a time in s, ms, µs or ns since 1970, in seconds; None where it is no time of this century."""
    for scale in (1.0, 1e3, 1e6, 1e9):
        if _SINCE_1970[0] <= value / scale <= _SINCE_1970[1]:
            return value / scale
    return None


def number(text: str) -> float:
    """Return the value of a printed number."""
    return parse(with_point(text))


class SeriesReader:
    """Reads lines into rows. A form of line that is known costs a look-up and the conversion of its numbers."""

    def __init__(self) -> None:
        self._known: GenerationCache[LineTemplate | bool] = GenerationCache(FORMS)

    def read(self, line: str, place: int, arrival: float, header: Sequence[str] = ()) -> Row | None:
        """Return the row of a line; None where it holds no number. `header` names the columns of the table under way."""
        line = clean(line[: 4 * LONGEST])[:LONGEST].rstrip()
        form = line.translate(DIGITS)
        template = self._known.get(form)
        if template is None:
            template = line_template(line) or False
            self._known.put(form, template)
        if header and isinstance(template, LineTemplate) and template.bare and len(header) == len(template.places):
            form = "\0".join((form, *header))  # what a row means depends on the header above it
            row = self._known.get(form)
            if row is None:
                row = line_template(line, header) or False
                self._known.put(form, row)
            template = row
        if not isinstance(template, LineTemplate):
            return None
        values = tuple(number(line[begin:end]) for begin, end in template.places)
        stamp = stamps.seconds(line[slice(*template.stamp)]) if template.stamp else None
        if template.since_1970 >= 0:
            stamp = since_1970(values[template.since_1970])
        rank = int(line[slice(*template.rank)]) if template.rank else None
        return Row(template, values, place, arrival, stamp, rank)
