"""Whether the lines of a template tell of the training, by what their numbers do: learned in each stream, as its lines come.

What a line says decides where it says enough. Where its words leave the class open, the first numbers of its template are put to the
model that also proposes columns for step and loss (`processors/read`): a counter that grows beside a loss makes a report of lines in
whatever words. What is printed with every report, a line each, is a part of it; what stands below the heading of an evaluation is none.
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from ..grammar.cache import GenerationCache
from ..grammar.extractor import CACHE_SIZE, DIGITS, LONGEST
from ..grammar.prefix import clean
from ..read.proposer.linear import LinearProposer
from ..read.roles import Phase, Proposer, Role
from ..read.series import LineTemplate, NumberColumn, TemplateSeries, line_template, number
from .context import OTHER, PROGRESS, PhaseState, Watched
from .kinds import Ground, kind_of
from .words import BOOKKEEPING, EVALUATING, EVALUATION, KEEPING, NEUTRAL, PART, SECTION, TRAINING, mark_of

ROWS, TEMPLATES, COLUMNS, DECIDED = 8, 24, 20, 128
"""What is kept of a stream: rows of a template, templates that are not decided, numbers of a row, templates that are."""
LEAST = 3
"""Rows that are looked at first; once more when `ROWS` are there."""
TRAINS, TRAINS_UNCOUNTED = 0.7, 0.9
"""Probability from which lines tell of the training; the same where none of their numbers counts it."""
LIKELY = 0.5
"""Probability from which a column is a counter of the training, or measures it."""
GROWS = 0.9
"""Share of its moves that a counter rises."""
KNOWN = 3
"""Lines that are reports by their words from which on no other words are taken for reports: an evaluation sounds like them."""
TOGETHER, NEAR, PARTS = 0.8, 2, 3
"""Share of its lines that a part of a report stands beside the same neighbour, lines within which that is so, and parts that a report has
at least."""
_COUNTERS = (Role.STEP, Role.SAMPLE, Role.TOKEN, Role.EPOCH)
_MEASURES = (Role.LOSS, Role.LOSS_PART, Role.RATE, Role.INTERVAL)


class Noted(NamedTuple):
    """What is known of a template whatever the stream.

    Attributes:
        mark: What it may be in a report over several lines.
        ground: What its class rests on by its words.
        lines: What its lines have in common; None where their numbers tell nothing of anybody's class.
    """

    mark: str
    ground: Ground
    lines: LineTemplate | None


class PhaseReader:
    """Corrects the classes of lines by the phase of their templates.

    Args:
        proposer: Says how likely each phase of a template is; the one that ships where not given.
    """

    def __init__(self, proposer: Proposer | None = None) -> None:
        self._proposer = proposer
        self._known: GenerationCache[Noted] = GenerationCache(CACHE_SIZE)
        self._quiet: set[str] = set()  # templates that change no class: most of them, left out at the cost of a set

    def correct(self, classes: str, lines: Sequence[str], masked: Sequence[str], state: PhaseState) -> str:
        """Return `classes`, the letters that words give to `lines` of templates `masked`, as their phases have them; `state` moves on."""
        if state.reports < KNOWN:
            state.reports += classes.count(PROGRESS)
        loud = set(masked) - self._quiet
        if loud or state.evaluation:
            classes = self._corrected(classes, lines, masked, loud, state)
        state.seen += len(lines)
        return classes

    def _corrected(
        self, classes: str, lines: Sequence[str], masked: Sequence[str], loud: set[str], state: PhaseState
    ) -> str:
        noted = {template: self._noted(template) for template in loud}
        late = state.reports >= KNOWN  # other words are taken for no more reports, but for parts of known ones
        told = {
            template: each.lines
            for template, each in noted.items()
            if each.lines is not None
            and (
                not late or each.ground is not Ground.NOTHING or each.mark == PART or state.decided.get(each.lines.key)
            )
        }
        watched = {each.key for each in state.watched}
        if any(each.key in watched or each.key not in state.decided for each in told.values()):
            self._watch(lines, masked, told, state)
        reports = {template for template, each in told.items() if state.decided.get(each.key)}
        if reports:
            classes = "".join(
                PROGRESS if template in reports else letter for letter, template in zip(classes, masked, strict=True)
            )
        if state.evaluation or any(each.mark == EVALUATION for each in noted.values()):
            marks = {template: self._noted(template).mark for template in dict.fromkeys(masked)}
            classes = _without_evaluations(classes, "".join(map(marks.__getitem__, masked)), state)
        return classes

    def note(self, masked: str, ground: Ground) -> Noted:
        """Return what is known of a new template, whose class rests on `ground`; it is remembered."""
        mark = mark_of(masked)
        known = Noted(mark, ground, _watched(masked, ground, mark))
        self._known.put(masked, known)
        if known.lines is None and known.mark != EVALUATION:
            if len(self._quiet) >= CACHE_SIZE:
                self._quiet.clear()
            self._quiet.add(masked)
        return known

    def _noted(self, masked: str) -> Noted:
        return self._known.get(masked) or self.note(masked, kind_of(masked)[1])

    def _watch(
        self, lines: Sequence[str], masked: Sequence[str], told: dict[str, LineTemplate], state: PhaseState
    ) -> None:
        """Take in the numbers of lines whose template is not decided, and decide those of which enough were seen."""
        by_key = {each.key: each for each in state.watched}
        place = state.seen
        for line, text in zip(lines, masked, strict=True):
            place += self._noted(text).mark != NEUTRAL
            found = told.get(text)
            if found and (found.key in by_key or found.key not in state.decided):
                if found.key not in by_key:
                    by_key[found.key] = Watched(text, found.key)
                    state.watched.append(by_key[found.key])
                _take(line, text, place, found, by_key[found.key])
        often = [each for each in state.watched if len(each.rows) >= LEAST]
        if any(each.key not in state.decided or len(each.rows) == ROWS for each in often):
            self._decide(often, state)
        state.watched = [each for each in state.watched if len(each.rows) < ROWS][-TEMPLATES:]

    def _decide(self, due: Sequence[Watched], state: PhaseState) -> None:
        series = [series_of(each) for each in due]
        proposer = self._proposer or _shipped()
        proposed = zip(series, proposer.propose(series), strict=True)
        grounds = [self._noted(each.text).ground for each in due]
        found = [
            ground is Ground.REPORT
            or (trains(*told) and (ground is not Ground.NOTHING or (state.reports < KNOWN and measures(each, *told))))
            for ground, (each, told) in zip(grounds, proposed, strict=True)
        ]
        for each, is_report in zip(due, _with_parts(due, found), strict=True):
            state.decided[each.key] = is_report
        for key in list(state.decided)[:-DECIDED]:
            del state.decided[key]


@cache
def _shipped() -> LinearProposer:
    return LinearProposer.load()


def _watched(masked: str, ground: Ground, mark: str) -> LineTemplate | None:
    """Return what lines have in common whose numbers tell of a class, their own or that of the other parts of a report."""
    if ground is Ground.SURE or (ground is Ground.REPORT and mark != PART) or "1" not in masked:
        return None
    found = line_template(clean(masked)[:LONGEST])
    if (
        found is None
        or found.bare is not (ground is Ground.ROW)
        or (ground is Ground.NOTHING and _of_other_work(found))
    ):
        return None
    return found


def _of_other_work(lines: LineTemplate) -> bool:
    """Return whether lines are of an evaluation or of the keeping of books: the words before the first number say so, or a verb."""
    begin = lines.around[0][0]
    if KEEPING.search(lines.text):
        return True
    return BOOKKEEPING.search(begin) is not None or (
        EVALUATING.search(begin) is not None and not TRAINING.search(begin)
    )


def trains(roles: Sequence[dict[Role, float]], phases: dict[Phase, float]) -> bool:
    """Return whether lines tell of the training: they surely do, and their numbers count it or measure it."""
    return phases[Phase.TRAINING] >= TRAINS and any(_likely(each, (*_COUNTERS, *_MEASURES)) for each in roles)


def measures(series: TemplateSeries, roles: Sequence[dict[Role, float]], phases: dict[Phase, float]) -> bool:
    """Return whether words in doubt are of a report: a counter that grows stands beside what it is a report of, or a sure measure alone.

    What counts layers, parts or threads has nothing beside it; ranks do not come in order.
    """
    told = list(zip(roles, series.columns, strict=True))
    measured = any(_likely(each, _MEASURES) and _varies(column) for each, column in told)
    if any(_likely(each, _COUNTERS) and _grows(column) for each, column in told):
        return measured or any(column.decimals and _varies(column) for column in series.columns)
    return measured and phases[Phase.TRAINING] >= TRAINS_UNCOUNTED


def _likely(roles: dict[Role, float], some: Sequence[Role]) -> bool:
    return sum(roles[role] for role in some) >= LIKELY


def _varies(column: NumberColumn) -> bool:
    return 2 * len(set(column.values)) >= len(column.values)


def _grows(column: NumberColumn) -> bool:
    return sum(later > earlier for earlier, later in pairwise(column.values)) >= GROWS * (len(column.values) - 1)


def series_of(watched: Watched) -> TemplateSeries:
    """Return the first rows of a template. When they arrived is left out: a class does not depend on it."""
    template = line_template(clean(watched.text)[:LONGEST])
    if template is None:
        raise ValueError(f"expected a line with numbers, got {watched.text!r}")
    columns = template.columns(watched.rows, COLUMNS)
    count = len(watched.rows)
    nothing = (None,) * count
    return TemplateSeries(
        template.key, template.text, columns, tuple(watched.places), (0.0,) * count, nothing, nothing, watched.count
    )


def _take(line: str, masked: str, place: int, template: LineTemplate, watched: Watched) -> None:
    watched.count += 1
    if len(watched.rows) < ROWS:
        shown = clean(line[:LONGEST])
        if shown.translate(DIGITS) != clean(masked).translate(DIGITS):
            return  # its digits decide what of it is shown: its numbers stand elsewhere
        values = (number(shown[begin:end]) for begin, end in template.places[:COLUMNS])
        row = [value if math.isfinite(value) else None for value in values]
        if len(row) > 1 and watched.rows and watched.rows[-1] == row:
            return  # another rank says the same
        watched.rows.append(row)
        watched.places.append(place)


def _with_parts(due: Sequence[Watched], reports: Sequence[bool]) -> list[bool]:
    """Return which templates are reports, those included whose lines always stand among the other parts of one."""
    parts = [place for place, each in enumerate(due) if mark_of(each.text) == PART]
    found = list(reports)
    while parts:
        block = [parts.pop()]
        for one in block:
            beside = [each for each in parts if _together(due[one], due[each]) and _together(due[each], due[one])]
            block += beside
            parts = [each for each in parts if each not in beside]
        if len(block) >= PARTS and any(reports[each] for each in block):
            for each in block:
                found[each] = True
    return found


def _together(one: Watched, other: Watched) -> bool:
    """Return whether the lines of `one` stand beside one of `other`, nearly all."""
    beside = {place + step for place in other.places for step in range(-NEAR, NEAR + 1)}
    return sum(place in beside for place in one.places) >= TOGETHER * len(one.places)


def _without_evaluations(classes: str, marks: str, state: PhaseState) -> str:
    """Return `classes` without the reports that stand below the heading of an evaluation."""
    before = EVALUATION if state.evaluation else ""
    marks, found, end = before + marks, [], 0
    classes = OTHER[: len(before)] + classes
    for section in SECTION.finditer(marks):
        found += [classes[end : section.start()], classes[section.start() : section.end()].replace(PROGRESS, OTHER)]
        end = section.end()
    state.evaluation = bool(found) and end == len(marks)
    return ("".join(found) + classes[end:])[len(before) :]
