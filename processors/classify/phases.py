"""Whether the lines of a template report the training, by the course of their numbers: learned in each stream, as its lines come.

If the words of a line do not decide its class, the first numbers of its template are given to the model that also proposes columns for step
and loss (`processors/read`): a counter that grows next to a loss makes lines a report, whatever their words. A line that is printed with
every report, one number a line, is a part of the report.
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from ..grammar.cache import GenerationCache
from ..grammar.extractor import CACHE_SIZE, DIGITS, LONGEST
from ..grammar.prefix import clean, strip_prefix
from ..read.proposer.linear import LinearProposer
from ..read.roles import Phase, Proposer, Role
from ..read.series import LineTemplate, NumberColumn, TemplateSeries, line_template, number
from .context import PROGRESS, ObservedTemplate, PhaseState
from .kinds import Ground, kind_of
from .words import WORDS, is_part

ROWS, TEMPLATES, COLUMNS, DECIDED = 8, 24, 20, 128
"""Maximum size of a stream's state: rows of a template, templates that are not decided, numbers of a row, templates that are decided."""
LEAST_ROWS = 3
"""Rows of a template before the first decision; the second comes with `ROWS`."""
KNOWN = 3
"""Reports by words from which on other words make no report: an evaluation has similar ones."""
PARTS = 3
"""Minimum number of parts of a report."""
_LIKELY = {"training": 0.7, "training_uncounted": 0.9, "role": 0.5, "grows": 0.9, "neighbour": 0.8}
"""Minimum probability that lines report the training; the same if no number counts it; of a column's role. Minimum share of the moves in
which a counter grows, and of the lines of a part that have the same neighbour. Tuned on the corpus."""
_NEIGHBOURS = 2
"""Maximum distance of the parts of a report, in lines."""
_COUNTERS = (Role.STEP, Role.SAMPLE, Role.TOKEN, Role.EPOCH)
_MEASURES = (Role.LOSS, Role.LOSS_PART, Role.RATE, Role.INTERVAL)


class TemplateFacts(NamedTuple):
    """Properties of a template in every stream.

    Attributes:
        part: True if it may be a part of a report over several lines.
        has_words: False for rules and blank lines.
        ground: What its class rests on by its words.
        lines: What its lines have in common; None if their numbers decide nothing.
    """

    part: bool
    has_words: bool
    ground: Ground
    lines: LineTemplate | None


class PhaseReader:
    """Corrects the classes of lines by the phase of their templates.

    Args:
        proposer: Gives the probability of each phase of a template; the one that ships where not given.
    """

    def __init__(self, proposer: Proposer | None = None) -> None:
        self._proposer = proposer
        self._known: GenerationCache[TemplateFacts] = GenerationCache(CACHE_SIZE)
        self._irrelevant: set[str] = set()  # templates that change no class: most of them

    def correct(self, classes: str, lines: Sequence[str], masked: Sequence[str], state: PhaseState) -> str:
        """Return `classes`, the letters of `lines` by their words, corrected; `state` is updated. `masked` are the templates of `lines`."""
        if state.reports < KNOWN:
            state.reports += classes.count(PROGRESS)
        relevant = {template: self._facts(template) for template in set(masked) - self._irrelevant}
        if relevant:
            classes = self._correct(classes, lines, masked, relevant, state)
        state.seen += len(lines)
        return classes

    def _correct(
        self,
        classes: str,
        lines: Sequence[str],
        masked: Sequence[str],
        relevant: dict[str, TemplateFacts],
        state: PhaseState,
    ) -> str:
        late = state.reports >= KNOWN
        observed = {
            template: each.lines
            for template, each in relevant.items()
            if each.lines is not None
            and (not late or each.ground is not Ground.NOTHING or each.part or state.decided.get(each.lines.key))
        }
        open_keys = {each.key for each in state.observed}
        if any(each.key in open_keys or each.key not in state.decided for each in observed.values()):
            self._observe(lines, masked, observed, state)
        reports = {template for template, each in observed.items() if state.decided.get(each.key)}
        if not reports:
            return classes
        pairs = zip(classes, masked, strict=True)
        return "".join(PROGRESS if template in reports else letter for letter, template in pairs)

    def note(self, masked: str, ground: Ground) -> TemplateFacts:
        """Return what is known of a new template, whose class rests on `ground`; it is remembered."""
        part = is_part(masked)
        has_words = WORDS["word"].search(strip_prefix(masked).body) is not None
        facts = TemplateFacts(part, has_words, ground, _relevant_lines(masked, ground, part))
        self._known.put(masked, facts)
        if facts.lines is None:
            if len(self._irrelevant) >= CACHE_SIZE:
                self._irrelevant.clear()
            self._irrelevant.add(masked)
        return facts

    def _facts(self, masked: str) -> TemplateFacts:
        return self._known.get(masked) or self.note(masked, kind_of(masked)[1])

    def _observe(
        self, lines: Sequence[str], masked: Sequence[str], observed: dict[str, LineTemplate], state: PhaseState
    ) -> None:
        """Note the numbers of lines whose template is not decided, and decide the templates with enough rows."""
        by_key = {each.key: each for each in state.observed}
        place = state.seen
        for line, text in zip(lines, masked, strict=True):
            place += self._facts(text).has_words
            found = observed.get(text)
            if found and (found.key in by_key or found.key not in state.decided):
                if found.key not in by_key:
                    by_key[found.key] = ObservedTemplate(text, found.key)
                    state.observed.append(by_key[found.key])
                _add_row(line, text, place, found, by_key[found.key])
        due = [each for each in state.observed if len(each.rows) >= LEAST_ROWS]
        if any(each.key not in state.decided or len(each.rows) == ROWS for each in due):
            self._decide(due, state)
        state.observed = [each for each in state.observed if len(each.rows) < ROWS][-TEMPLATES:]

    def _decide(self, due: Sequence[ObservedTemplate], state: PhaseState) -> None:
        series = [_series(each) for each in due]
        proposals = (self._proposer or _shipped()).propose(series)
        reports = []
        for each, one, (roles, phases) in zip(due, series, proposals, strict=True):
            ground = self._facts(each.text).ground
            counts = any(_is_likely(role, (*_COUNTERS, *_MEASURES)) for role in roles)
            trains = phases[Phase.TRAINING] >= _LIKELY["training"] and counts
            by_numbers = state.reports < KNOWN and _is_counted(one, roles, phases)
            reports.append(ground is Ground.REPORT or (trains and (ground is not Ground.NOTHING or by_numbers)))
        for each, is_report in zip(due, _with_parts(due, reports), strict=True):
            state.decided[each.key] = is_report
        for key in list(state.decided)[:-DECIDED]:
            del state.decided[key]


@cache
def _shipped() -> LinearProposer:
    return LinearProposer.load()


def _relevant_lines(masked: str, ground: Ground, part: bool) -> LineTemplate | None:
    """Return what lines have in common whose numbers decide their class, or that of other parts of a report."""
    if ground is Ground.SURE or (ground is Ground.REPORT and not part) or "1" not in masked:
        return None
    found = line_template(clean(masked)[:LONGEST])
    if found is None or found.bare is not (ground is Ground.ROW):
        return None
    begin = found.around[0][0]  # the words before the first number
    evaluation = WORDS["evaluation"].search(begin) and not WORDS["training"].search(begin)
    other_work = ground is Ground.NOTHING and (evaluation or WORDS["bookkeeping"].search(begin))
    return None if other_work else found


def _is_counted(series: TemplateSeries, roles: Sequence[dict[Role, float]], phases: dict[Phase, float]) -> bool:
    """Return whether lines hold a growing counter next to a measure or a varying number, or a measure and are surely of the training."""
    columns = list(zip(roles, series.columns, strict=True))
    measured = any(_is_likely(role, _MEASURES) and _varies(column) for role, column in columns)
    if any(_is_likely(role, _COUNTERS) and _grows(column) for role, column in columns):
        return measured or any(column.decimals and _varies(column) for column in series.columns)
    return measured and phases[Phase.TRAINING] >= _LIKELY["training_uncounted"]


def _is_likely(roles: dict[Role, float], some: Sequence[Role]) -> bool:
    return sum(roles[role] for role in some) >= _LIKELY["role"]


def _varies(column: NumberColumn) -> bool:
    return 2 * len(set(column.values)) >= len(column.values)


def _grows(column: NumberColumn) -> bool:
    grown = sum(later > earlier for earlier, later in pairwise(column.values))
    return grown >= _LIKELY["grows"] * (len(column.values) - 1)


def _series(observed: ObservedTemplate) -> TemplateSeries:
    """Return the first rows of a template, without their arrival: a class does not depend on it."""
    template = line_template(clean(observed.text)[:LONGEST])
    if template is None:
        raise ValueError(f"expected a line with numbers, got {observed.text!r}")
    columns, count = template.columns(observed.rows, COLUMNS), len(observed.rows)
    unknown = (None,) * count
    return TemplateSeries(
        template.key, template.text, columns, tuple(observed.places), (0.0,) * count, unknown, unknown, observed.count
    )


def _add_row(line: str, masked: str, place: int, template: LineTemplate, observed: ObservedTemplate) -> None:
    observed.count += 1
    if len(observed.rows) >= ROWS:
        return
    shown = clean(line[:LONGEST])
    if shown.translate(DIGITS) != clean(masked).translate(DIGITS):
        return  # its digits decide which of its text is shown: its numbers have other places
    values = (number(shown[begin:end]) for begin, end in template.places[:COLUMNS])
    row = [value if math.isfinite(value) else None for value in values]
    if len(row) > 1 and observed.rows and observed.rows[-1] == row:
        return  # the same report of another rank
    observed.rows.append(row)
    observed.places.append(place)


def _with_parts(due: Sequence[ObservedTemplate], reports: Sequence[bool]) -> list[bool]:
    """Return which templates are reports, with those whose lines are always printed together with other parts of one."""
    parts = [place for place, each in enumerate(due) if is_part(each.text)]
    found = list(reports)
    while parts:
        block = [parts.pop()]
        for one in block:
            adjacent = [
                each for each in parts if _is_adjacent(due[one], due[each]) and _is_adjacent(due[each], due[one])
            ]
            block += adjacent
            parts = [each for each in parts if each not in adjacent]
        if len(block) >= PARTS and any(reports[each] for each in block):
            for each in block:
                found[each] = True
    return found


def _is_adjacent(one: ObservedTemplate, other: ObservedTemplate) -> bool:
    """Return whether nearly all lines of `one` are near a line of `other`."""
    near = {place + step for place in other.places for step in range(-_NEIGHBOURS, _NEIGHBOURS + 1)}
    return sum(place in near for place in one.places) >= _LIKELY["neighbour"] * len(one.places)
