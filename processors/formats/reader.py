"""Takes the lines of a chunk into the format of their stream: counts templates, finds the known format, keeps the numbers of reports."""

from collections.abc import Sequence

from schedmate_records import Reports

from ..classified_chunk import ClassifiedChunk
from ..grammar.cache import GenerationCache
from ..grammar.extractor import CACHE_SIZE
from .compiled import CompiledFormat, CompiledTemplate
from .known import KnownFormats
from .state import ROWS, FormatRow, FormatState
from .survey import SAMPLE_CHARACTERS, add_sample
from .templates import TemplateReader, mask_digits, telling_kinds

_FIRST_SEARCH = 4
"""Lines with numbers after which a format is searched for first; then after twice as many, and so on."""
_LONGEST_LINE = 1000
"""Longer lines are dumps and are not read."""


class FormatReader:
    """Applies known formats to streams. All that it remembers of a stream is in the stream's state.

    Args:
        known: The known formats.
        surveys: Whether samples for questions are kept, too.
    """

    def __init__(self, known: KnownFormats, *, surveys: bool = False) -> None:
        self.known = known
        self.surveys = surveys
        self._reader = TemplateReader()
        self._texts: GenerationCache[str] = GenerationCache(CACHE_SIZE)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do: no format is known, and no question will be asked."""
        return not self.surveys and self.known.is_empty()

    def format_of(self, state: FormatState) -> CompiledFormat | None:
        """Return the known format of a stream."""
        return self.known.get(state.fingerprint) if state.fingerprint else None

    def observe(self, view: ClassifiedChunk, state: FormatState) -> int | None:
        """Take in a chunk; return the place of its newest training report, or None where the stream has no known format or no report."""
        if not view.lines:
            return None
        newest = dict(zip(view.templates, range(len(view.templates)), strict=True))
        forms: dict[str, str] = {}
        for masked, place in newest.items():
            if text := self._text(masked, view.lines[place]):
                forms[masked] = text
        self._count(view, state, forms, newest)
        self._find_format(state)
        known = self.format_of(state)
        first, state.pieces = state.pieces, state.pieces + len(view.lines)
        if known is None:
            return None
        for masked, text in forms.items():
            if text in known.templates and known.templates[text].reports is Reports.EVALUATION:
                state.evaluated = max(state.evaluated, view.numbers[newest[masked]])
        reporting = {
            masked: known.templates[text]
            for masked, text in forms.items()
            if text in known.templates and known.templates[text].reports is Reports.TRAINING
        }
        return self._keep_rows(view, state, reporting, first) if reporting else None

    def _text(self, masked: str, line: str) -> str:
        """Return the template text of a line whose digits are masked in `masked`; empty for a line without numbers. It is remembered."""
        known = self._texts.get(masked)
        if known is None:
            read = self._reader.read(line, 0, 0.0) if len(line) <= _LONGEST_LINE else None
            known = read[0] if read else ""
            self._texts.put(masked, known)
        return known

    def _count(self, view: ClassifiedChunk, state: FormatState, forms: dict[str, str], newest: dict[str, int]) -> None:
        survey = state.survey
        counts = dict.fromkeys(forms, 0)
        for masked in view.templates:
            if masked in counts:
                counts[masked] += 1
        if not state.sampled or state.fingerprint:
            for masked, count in counts.items():
                survey.count(forms[masked], count, telling_kinds(mask_digits(view.lines[newest[masked]])))
            return
        survey.add_lines(view.lines)
        oldest = dict(zip(reversed(view.templates), range(len(view.templates) - 1, -1, -1), strict=True))
        for masked, count in counts.items():
            first, last = view.lines[oldest[masked]], view.lines[newest[masked]]
            counted = survey.count(forms[masked], count, telling_kinds(mask_digits(last)))
            if counted is None:
                continue
            if not counted.varies:
                values = [self._values(line) for line in (first, last)]
                counted.values = counted.values or values[0]
                counted.varies = any(each != counted.values for each in values)
            if not counted.samples and first != last:
                add_sample(counted, first)
            add_sample(counted, last)

    def _values(self, line: str) -> list[float | None]:
        read = self._reader.read(line[:SAMPLE_CHARACTERS], 0, 0.0)
        return [value if value == value else None for value in read[1].values] if read else []  # noqa: PLR0124  # nan

    def _find_format(self, state: FormatState) -> None:
        """Search for the format of a stream, after twice as many lines each time, or when the known formats changed."""
        if state.survey.lines < state.due and state.version == self.known.version:
            return
        state.version = self.known.version
        state.due = max(_FIRST_SEARCH, 2 * state.survey.lines)
        found = self.known.match(state.survey.counts())
        fingerprint = found.record.fingerprint if found else ""
        if fingerprint != state.fingerprint:
            state.fingerprint, state.rows = fingerprint, {}
        if fingerprint:
            state.survey.drop_samples()

    def _keep_rows(
        self, view: ClassifiedChunk, state: FormatState, reporting: dict[str, CompiledTemplate], first: int
    ) -> int | None:
        places: dict[str, list[int]] = {}
        for place in range(len(view.templates) - 1, -1, -1):
            known = reporting.get(view.templates[place])
            if known is not None and len(found := places.setdefault(known.text, [])) < ROWS:
                found.append(place)
        for text, found in places.items():
            template = reporting[view.templates[found[0]]]
            state.add_rows(text, self._rows(view, template, found[::-1], first))
        return max((found[0] for found in places.values()), default=None)

    def _rows(
        self, view: ClassifiedChunk, template: CompiledTemplate, places: Sequence[int], first: int
    ) -> list[FormatRow]:
        rows = []
        for place in places:
            read = self._reader.read(view.lines[place], view.numbers[place], view.times[place])
            if read is None:
                continue
            row = read[1]
            values = [row.values[each.index] if each.index < len(row.values) else None for each in template.columns]
            finite = [value if value is not None and abs(value) < float("inf") else None for value in values]
            rows.append(FormatRow(first + place, row.line, row.arrival, row.stamp, row.rank, finite))
        return rows
