"""From a line to its template, and to its fields, by a layout that is worked out once for each template.

All patterns of the grammar ask for digits, never for a certain digit. So lines that are equal but for their digits have
their prefix, their stamp and their numbers at the same places, and a template remembers the places too.
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
from .names import Field, FieldLayout, Meaning
from .numbers import NUMBER, is_duration, of_thousands, parse, with_point
from .prefix import LogPrefix, clean, strip_prefix

_AS_BYTES = bytes.maketrans(b"023456789", b"111111111")
"""`DIGITS` for bytes: of a text that is not all ASCII, that is a hundred times as fast."""


def templates(lines: Sequence[str]) -> list[str]:
    """Return the templates of `lines`: what they have in common with lines that differ in digits only.

    A template keeps the first `LONGEST` characters; the class of a line follows from them.
    """
    if max(map(len, lines), default=0) > LONGEST:
        lines = [line[:LONGEST] for line in lines]
    masked = _masked("\n".join(lines)).split("\n")
    if len(masked) != len(lines):  # a line feed within a line: the slow way keeps them apart
        return [_masked(line) for line in lines]
    return masked


def _masked(text: str) -> str:
    if text.isascii():
        return text.translate(DIGITS)
    try:
        return text.encode("latin-1").translate(_AS_BYTES).decode("latin-1")  # as fast as copying
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").translate(_AS_BYTES).decode("utf-8", "surrogatepass")


LONGEST = 1000
"""Characters of a line that are looked at. Templates are kept, so this bounds memory."""

NUMBERS = 100
"""Numbers of a line that are looked at: no report has more, but in columns."""

CACHE_SIZE = 20_000
"""Templates whose layout is remembered. It bounds memory; a template that was dropped is analysed again."""

DIGITS = str.maketrans("023456789", "111111111")
"""Turns every digit into 1 (not 0: `"step": 000` would be no JSON). One pass over a chunk costs less than an expression a line."""

_DATE = re.compile(
    r"[\[(]?\d{4}[-/]\d\d[-/]\d\d[T _,]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?[\])]?"
    r"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} "
    r"\d\d:\d\d:\d\d(?: [A-Z]{3,4})?(?: \d{4})?"
)
_EXPECTED = re.compile(
    r"(?i)\b(?:eta|etc|finish\w*|end\w*|until|left|remaining|expected|estimated|done)\W*+(?:at|on|by|time)?\W*+$"
)
"""What stands before a time that is still to come."""


_CELL = re.compile(r"\|\s++[^|\d]++\|\s*+[-+\d.e]++\s*+\|")
"""A field of a drawn table."""
_INDENTED = (" ", "\t", "|", "│", "┃")


@dataclass(frozen=True, slots=True)
class TemplateLayout:
    """What lines of one template have in common.

    Attributes:
        layout: What the numbers mean.
        places: Begin and end of each field's number in the line, and of the one that it is divided by (0, 0 for none).
        stamp: Begin and end of the printed time; None without one.
        rank: Begin and end of the rank that a launcher printed before the line; None without one.
        row: Nothing but numbers in columns.
        event: A line of MLPerf's log, read by its own rules.
        fragment: Indented, or a row of a drawn table with one field: part of a report over several lines.
        clean: The places are those in the line as printed; else it is cleaned first.
    """

    layout: FieldLayout
    places: tuple[tuple[Field, int, int, int, int], ...]
    stamp: tuple[int, int] | None
    rank: tuple[int, int] | None
    row: bool
    event: bool
    fragment: bool
    clean: bool = True


class LineFields(msgspec.Struct):
    """The fields of one line: values in seconds or a second, by field; `stamp` is the printed time in seconds, `rank` the launcher's."""

    layout: FieldLayout
    values: list[tuple[Field, float]]
    stamp: float | None
    row: bool = False
    fragment: bool = False
    rank: int | None = None


_COUNTERS = (Meaning.STEP, Meaning.EPOCH, Meaning.TOTAL, Meaning.COUNT, Meaning.DONE)
_NOT_REPORTED = (Meaning.MEASURE,)
"""What a number may mean that no report holds; it is not parsed."""


class Extractor:
    """Reads the fields of lines. What it learns of a template is kept in a bounded cache."""

    def __init__(self, size: int = CACHE_SIZE) -> None:
        self._layouts: GenerationCache[TemplateLayout] = GenerationCache(size)

    @property
    def remembered(self) -> int:
        """Templates that are remembered now."""
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
            values = [
                (field, float(line[begin:end]) * field.scale / (float(line[per:per_end]) or 1.0 if per_end else 1.0))
                for field, begin, end, per, per_end in known.places
            ]
        except ValueError:
            values = [
                (field, parse(line[begin:end]) * field.scale / (parse(line[per:per_end]) or 1.0 if per_end else 1.0))
                for field, begin, end, per, per_end in known.places
            ]
        stamp = stamps.seconds(line[known.stamp[0] : known.stamp[1]]) if known.stamp else None
        rank = int(line[known.rank[0] : known.rank[1]]) if known.rank else None
        return LineFields(known.layout, values, stamp, known.row, known.fragment, rank)


def read_layout(body: str) -> FieldLayout:
    """Return what the numbers of `body`, a prefixed line, mean."""
    body = _undated(body[:LONGEST])[0]
    parts = NUMBER.split(body, NUMBERS)
    return field_layout(parts[::2], [with_point(number) for number in parts[1::2]])


@dataclass(frozen=True, slots=True)
class Message:
    """A cleaned line taken apart.

    Attributes:
        prefixed: What stands before its message.
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
        stamp: tuple[int, int] | None = (at, at + len(prefixed.stamp))
    else:
        stamp = (start + dated[0], start + dated[1]) if dated else None
    return Message(prefixed, body, start, stamp)


def _undated(body: str) -> tuple[str, tuple[int, int] | None]:
    """Return `body` with blanks in place of times with a date, and where the first stands that is not still to come."""
    first = None
    if body.count(":") > 1:  # each has two, which are found faster
        for found in _DATE.finditer(body):
            if first is None and not _EXPECTED.search(body, 0, found.start()):
                first = found.span()
            body = body[: found.start()] + " " * len(found[0]) + body[found.end() :]
    return body, first


def template_layout(line: str) -> TemplateLayout:
    """Return the layout of a cleaned line."""
    line = line.rstrip()  # where a long line was cut
    message = message_of(line)
    prefixed, body, start, stamp = message.prefixed, message.body, message.start, message.stamp
    if body.startswith(":::ML"):
        return TemplateLayout(FieldLayout(()), (), None, None, row=False, event=True, fragment=False)
    if table.is_row(table.part(replace(prefixed, body=body))):
        return TemplateLayout(FieldLayout(()), (), stamp, prefixed.rank, row=True, event=False, fragment=False)
    numbers = list(NUMBER.finditer(body))
    parts = NUMBER.split(body, NUMBERS)
    texts, printed = parts[::2], [with_point(number) for number in parts[1::2]]
    known = field_layout(texts, printed)
    commas = printed != parts[1::2]
    fields = _with_clocks(known.fields, printed, texts)
    places = tuple(
        (
            field,
            *_place(numbers[field.index], start),
            *(_place(numbers[field.per], start) if field.per >= 0 else (0, 0)),
        )
        for field in fields
        if field.meaning not in _NOT_REPORTED and not _may_be_decimals(field, printed, commas)
    )
    indented = stamp is None and prefixed.text[:1] in _INDENTED
    fragment = len(known.fields) == 1 and (indented or _CELL.fullmatch(body) is not None)
    return TemplateLayout(known, places, stamp, prefixed.rank, row=False, event=False, fragment=fragment)


def _may_be_decimals(field: Field, numbers: list[str], commas: bool) -> bool:
    """Return whether the comma in `1,234` may part decimals: nothing is known then. Counters are whole, and group thousands.

    Where a line has decimal commas (`commas`), others of it may be such too; of a loss it is likely where nothing has a point.
    """
    if field.meaning in _COUNTERS or not of_thousands(numbers[field.index]):
        return False
    return commas or (field.meaning is Meaning.LOSS and not any("." in number for number in numbers))


def _place(found: re.Match[str], start: int) -> tuple[int, int]:
    return start + found.start(1), start + found.end(1)


def _with_clocks(fields: tuple[Field, ...], numbers: list[str], texts: list[str]) -> list[Field]:
    """Add the numbers of the form `h:mm:ss` that no name explains: they may be a clock."""
    taken = {field.index for field in fields}
    found = list(fields)
    for index, number in enumerate(numbers):
        if is_duration(number) and index not in taken and not texts[index].endswith("<"):
            field = span(index, name_before(texts[index]), texts[index], texts[index + 1], clock=True)
            if field:
                found.append(field)
    return found


def _event(line: str) -> LineFields:
    event = mllog.read(strip_prefix(line).body)
    if event is None:
        return LineFields(FieldLayout(()), [], None)
    values = [(field, field.scale * value) for field, value in event.values]
    return LineFields(
        FieldLayout(tuple(field for field, _ in values), shape=zlib.crc32(event.key.encode())), values, event.stamp
    )
