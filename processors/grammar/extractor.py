"""From a line to its template, and to its fields, by a layout that is computed once for each template.

All patterns of the grammar ask for digits, never for a certain digit. So lines that are equal but for their digits have their prefix, their
stamp and their numbers at the same places, and a template remembers the places too.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from . import mllog, stamps, table
from .cache import GenerationCache
from .fields import name_before, span
from .layout import field_layout
from .names import NO_FIELDS, Field, FieldLayout, Meaning
from .numbers import NUMBER, is_duration, parse, with_point
from .prefix import LogPrefix, clean, strip_prefix

LONGEST = 1000
"""Characters of a line that are read. Templates are kept, so this bounds memory."""
CACHE_SIZE = 20_000
"""Templates in a cache, about 20 MB: most workers see fewer."""
DIGITS = str.maketrans("023456789", "111111111")
"""Turns every digit into 1 (not 0: `"step": 000` would be no JSON). One pass over a chunk costs less than an expression a line."""
_AS_BYTES = bytes.maketrans(b"023456789", b"111111111")  # a hundred times as fast where a text is not all ASCII
_FORMS = {
    "date": re.compile(
        r"[\[(]?\d{4}[-/]\d\d[-/]\d\d[T _,]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?[\])]?"
        r"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} "
        r"\d\d:\d\d:\d\d(?: [A-Z]{3,4})?(?: \d{4})?"
    ),
    # A field of a drawn table: `| loss | 0.31 |`.
    "cell": re.compile(r"\|\s++[^|\d]++\|\s*+[-+\d.e]++\s*+\|"),
    "expected": re.compile(
        r"(?i)\b(?:eta|etc|finish\w*|end\w*|until|left|remaining|expected|estimated)\W*+(?:at|on)?\W*+$"
    ),
}


def templates(lines: Sequence[str]) -> list[str]:
    """Return the templates of `lines`: what they have in common with lines that differ in digits only.

    A template keeps the first `LONGEST` characters; the class of a line follows from them.
    """
    if max(map(len, lines), default=0) > LONGEST:
        lines = [line[:LONGEST] for line in lines]
    masked = _masked("\n".join(lines)).split("\n")
    if len(masked) != len(lines):  # a line holds a line feed
        return [_masked(line) for line in lines]
    return masked


def _masked(text: str) -> str:
    if text.isascii():
        return text.translate(DIGITS)
    try:
        return text.encode("latin-1").translate(_AS_BYTES).decode("latin-1")  # as fast as copying
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").translate(_AS_BYTES).decode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class TemplateLayout:
    """Layout of lines of one template.

    Attributes:
        layout: Meaning of the numbers.
        places: Begin and end of each field's number in the line.
        divisors: Place of a field in `places`, and begin and end of the number that divides it.
        stamp: Begin and end of the printed time; None without one.
        rank: Begin and end of the rank that a launcher printed before the line; None without one.
        row: The line holds nothing but numbers in columns.
        event: The line is one of MLPerf's log, read by its own rules.
        fragment: One field in an indented line or in a drawn table: part of a report over several lines.
        clean: The places are those in the line as printed; else it is cleaned first.
    """

    layout: FieldLayout = NO_FIELDS
    places: tuple[tuple[Field, int, int], ...] = ()
    divisors: tuple[tuple[int, int, int], ...] = ()
    stamp: tuple[int, int] | None = None
    rank: tuple[int, int] | None = None
    row: bool = False
    event: bool = False
    fragment: bool = False
    clean: bool = True


class LineFields(msgspec.Struct):
    """The fields of one line: values in seconds or a second, by field; `stamp` is the printed time in seconds, `rank` the launcher's."""

    layout: FieldLayout
    values: list[tuple[Field, float]]
    stamp: float | None
    row: bool = False
    fragment: bool = False
    rank: int | None = None


class Extractor:
    """Reads the fields of lines. The layouts of templates are kept in a bounded cache."""

    def __init__(self, size: int = CACHE_SIZE) -> None:
        self._layouts: GenerationCache[TemplateLayout] = GenerationCache(size)

    @property
    def remembered(self) -> int:
        """Number of templates in the cache."""
        return len(self._layouts)

    def read(self, line: str, template: str = "") -> LineFields:
        """Return the fields of `line`, as printed: colours, prefix and all. `template` is its template, where that is known."""
        if len(line) > LONGEST:
            line, template = clean(line), ""
        template = template or line[:LONGEST].translate(DIGITS)
        known = self._layouts.get(template)
        if known is None:
            cleaned = clean(line)
            known = replace(template_layout(cleaned[:LONGEST]), clean=line.startswith(cleaned))
            self._layouts.put(template, known)
        if not known.clean:
            line = clean(line)
        if known.event:
            return _event(line)
        try:  # most are plain numbers
            values = [(field, float(line[begin:end]) * field.scale) for field, begin, end in known.places]
        except ValueError:
            values = [(field, parse(line[begin:end]) * field.scale) for field, begin, end in known.places]
        for place, begin, end in known.divisors:
            field, value = values[place]
            values[place] = field, value / (parse(line[begin:end]) or 1.0)
        stamp = stamps.seconds(line[known.stamp[0] : known.stamp[1]]) if known.stamp else None
        rank = int(line[known.rank[0] : known.rank[1]]) if known.rank else None
        return LineFields(known.layout, values, stamp, known.row, known.fragment, rank)


@dataclass(frozen=True, slots=True)
class Message:
    """The parts of a cleaned line.

    Attributes:
        prefixed: Its prefix.
        body: The message, with blanks in place of dates.
        start: Where in the line it begins.
        stamp: Begin and end of the printed time in the line; None without one.
    """

    prefixed: LogPrefix
    body: str
    start: int
    stamp: tuple[int, int] | None


def message_of(line: str) -> Message:
    """Return the parts of a cleaned line."""
    prefixed = strip_prefix(line)
    start = len(line) - len(prefixed.body)
    at = line.find(prefixed.stamp, 0, start) if prefixed.stamp else -1
    body, dated = _undated(prefixed.body)
    if at >= 0:
        return Message(prefixed, body, start, (at, at + len(prefixed.stamp)))
    return Message(prefixed, body, start, (start + dated[0], start + dated[1]) if dated else None)


def _undated(body: str) -> tuple[str, tuple[int, int] | None]:
    """Return `body` with blanks in place of times with a date, and the place of the first that is not an expected one."""
    first = None
    if body.count(":") > 1:  # a time has two, and counting them is faster
        for found in _FORMS["date"].finditer(body):
            if first is None and not _FORMS["expected"].search(body, 0, found.start()):
                first = found.span()
            body = body[: found.start()] + " " * len(found[0]) + body[found.end() :]
    return body, first


def _split(body: str) -> tuple[list[str], list[str]]:
    """Return the texts around the numbers of `body`, and the first numbers: no report has more than a hundred, but in columns."""
    parts = NUMBER.split(body, 100)
    return parts[::2], [with_point(number) for number in parts[1::2]]


def read_layout(body: str) -> FieldLayout:
    """Return what the numbers of `body`, a line without its prefix, mean."""
    return field_layout(*_split(_undated(body[:LONGEST])[0]))


def template_layout(line: str) -> TemplateLayout:
    """Return the layout of a cleaned line."""
    line = line.rstrip()  # a long line was cut
    message = message_of(line)
    prefixed, body, start = message.prefixed, message.body, message.start
    if body.startswith(":::ML"):
        return TemplateLayout(event=True)
    if table.is_row(table.part(replace(prefixed, body=body))):
        return TemplateLayout(stamp=message.stamp, rank=prefixed.rank, row=True)
    texts, printed = _split(body)
    numbers = list(NUMBER.finditer(body))
    known = field_layout(texts, printed)
    at = [(start + number.start(1), start + number.end(1)) for number in numbers]
    fields = [
        field
        for field in (*known.fields, *_clocks(known.fields, printed, texts))
        if field.meaning is not Meaning.MEASURE  # no report holds it
    ]
    divisors = tuple((place, *at[field.per]) for place, field in enumerate(fields) if field.per >= 0)
    indented = message.stamp is None and prefixed.text.startswith((" ", "\t", "|", "│", "┃"))
    fragment = len(known.fields) == 1 and (indented or _FORMS["cell"].fullmatch(body) is not None)
    places = tuple((field, *at[field.index]) for field in fields)
    return TemplateLayout(known, places, divisors, message.stamp, prefixed.rank, fragment=fragment)


def _clocks(fields: Sequence[Field], numbers: Sequence[str], texts: Sequence[str]) -> list[Field]:
    """Return the numbers of the form `h:mm:ss` that no name explains: they may be a clock."""
    taken = {field.index for field in fields}
    found = [
        span(index, name_before(texts[index]), texts[index], texts[index + 1], is_clock=True)
        for index, number in enumerate(numbers)
        if is_duration(number) and index not in taken and not texts[index].endswith("<")
    ]
    return [field for field in found if field]


def _event(line: str) -> LineFields:
    event = mllog.read(strip_prefix(line).body)
    if event is None:
        return LineFields(NO_FIELDS, [], None)
    values = [(field, field.scale * value) for field, value in event.values]
    return LineFields(
        FieldLayout(tuple(field for field, _ in values), shape=zlib.crc32(event.key.encode())), values, event.stamp
    )
