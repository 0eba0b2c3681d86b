"""Which columns are the step and the loss of the training: the assignment of roles that is most consistent.

The roles that a proposer gives to single columns are a prior. It is tested: counters grow, and restart only now and then; reports continue
to the end of the log; a loss is printed in the line of its counter; a column has one role.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from ..grammar.fields import name_before
from ..grammar.names import is_no_loss, is_no_step
from .roles import Phase, Proposed, Proposer, Role
from .series import BAR, NumberColumn, TemplateSeries, since_1970

CANDIDATES = 12
"""Columns of each role that are weighed: the most likely ones."""
_RIVALS = {Role.STEP: (Role.EPOCH, Role.SAMPLE, Role.TOKEN, Role.END), Role.LOSS: (Role.LOSS_PART,)}
"""Roles that a column may have instead. It has one role."""
_OF = ("/", "of")
_GROWS = 0.6
"""Share of its moves in which a counter rises."""


class ColumnInRole(msgspec.Struct, frozen=True):
    """A column in a role.

    Attributes:
        template: Place of its template.
        column: Place of the column in it.
        value: Its newest value.
        place: Line of that.
        score: Log odds.
        columns: All columns that are printed the same way: key of the template, index of the column.
        end: The end that it counts to, as printed; empty where it counts to none.
    """

    template: int
    column: int
    value: float
    place: int
    score: float
    columns: tuple[tuple[int, int], ...] = ()
    end: str = ""


class Found(msgspec.Struct, frozen=True):
    """The best candidate, and the log odds by which it leads the best one with another value."""

    best: ColumnInRole
    margin: float


class SeriesRoles(msgspec.Struct, frozen=True):
    """Candidates for the step and for the loss, the likeliest first."""

    steps: tuple[ColumnInRole, ...] = ()
    losses: tuple[ColumnInRole, ...] = ()


def assign(series: Sequence[TemplateSeries], proposer: Proposer) -> SeriesRoles:
    """Return the candidates for the step and the loss of `series`."""
    if not series:
        return SeriesRoles()
    groups = list(_groups(series, proposer.propose(series)))
    newest = max(each.places[-1] for each in series)
    steps = _best(_of_role(groups, Role.STEP, newest))
    losses = [
        msgspec.structs.replace(each, score=each.score + 1.0) if steps and each.template == steps[0].template else each
        for each in _best(_of_role(groups, Role.LOSS, newest))
    ]
    return SeriesRoles(tuple(steps), tuple(_best(losses)))


def _best(found: Iterator[ColumnInRole] | Sequence[ColumnInRole]) -> list[ColumnInRole]:
    return sorted(found, key=lambda each: -each.score)[:CANDIDATES]


def decided(found: Sequence[ColumnInRole]) -> Found | None:
    """Return the best of the candidates, the likeliest first, and its lead over the first with another value."""
    if not found:
        return None
    others = (each.score for each in found[1:] if not math.isclose(each.value, found[0].value, rel_tol=1e-3))
    return Found(found[0], found[0].score - next(others, -9.0))  # without another one the lead is large


class _Group(msgspec.Struct, frozen=True):
    """Columns that are printed the same way in several templates: a bar that ends, a line with one more field.

    Attributes:
        template: Place of the template with most of the rows.
        column: Place of its column.
        series: The column itself.
        columns: Key of the template and index of each column.
        end: As in `ColumnInRole`.
        values: Line number and value of each row, in the order of lines.
        roles: Mean probability of each role.
        phases: Mean probability of each phase.
    """

    template: int
    column: int
    series: NumberColumn
    columns: tuple[tuple[int, int], ...]
    end: str
    values: list[tuple[int, float]]
    roles: Mapping[Role, float]
    phases: Mapping[Phase, float]


def _groups(series: Sequence[TemplateSeries], proposed: Sequence[Proposed]) -> Iterator[_Group]:
    """Yield the columns, those that are printed the same way as one. Counters to different ends are different loops."""
    groups: dict[tuple[str, ...], list[tuple[int, NumberColumn, list[int]]]] = defaultdict(list)
    for place, each in enumerate(series):
        rows = [row for row, rank in enumerate(each.ranks) if rank == each.ranks[-1]]
        for column in each.columns:
            for end, some in _by_end(each, column, rows).items():
                groups[*_print_of(each, column), end].append((place, column, some))
    for (*_, end), group in groups.items():
        values = sorted(
            (series[place].places[row], column.values[row]) for place, column, rows in group for row in rows
        )
        values = [each for each in values if math.isfinite(each[1])]
        if len(values) < 2 or since_1970(values[-1][1]) is not None:
            continue
        main = max(group, key=lambda each: len(each[2]))
        weights = [(len(rows) / sum(len(each[2]) for each in group), place, column) for place, column, rows in group]
        yield _Group(
            main[0],
            main[1].index,
            group[0][1],
            tuple((series[place].key, column.index) for place, column, _ in group),
            end,
            values,
            {
                role: sum(w * proposed[at].roles[column.index].get(role, 0.0) for w, at, column in weights)
                for role in Role
            },
            {phase: sum(w * proposed[at].phases.get(phase, 0.0) for w, at, _ in weights) for phase in Phase},
        )


def _of_role(groups: Sequence[_Group], role: Role, newest: int) -> Iterator[ColumnInRole]:
    """Yield the columns that may have a role, each with its log odds."""
    for group in groups:
        chance, training = group.roles[role], group.phases[Phase.TRAINING]
        rivals = (group.roles[each] for each in _RIVALS[role])
        if chance < 0.03 or group.phases[Phase.EVALUATION] > training or any(other > chance for other in rivals):
            continue
        values = [value for _, value in group.values]
        if role is Role.STEP and not _counts(group.series, values):
            continue
        if role is Role.LOSS and not _may_be_loss(group.series, values):
            continue
        score = math.log(chance / (1 - min(chance, 0.999))) + math.log(max(training, 0.02) / 0.6)
        score += 0.3 * math.log(len(values)) + 1.5 * math.log((group.values[-1][0] + 1) / (newest + 1))
        yield ColumnInRole(
            group.template, group.column, values[-1], group.values[-1][0], score, group.columns, group.end
        )


def _by_end(series: TemplateSeries, column: NumberColumn, rows: Sequence[int]) -> dict[str, list[int]]:
    """Return the rows by the end that the column counts to; all under one key where it counts to none."""
    after = series.columns[column.index + 1] if column.index + 1 < len(series.columns) else None
    if after is None or not column.integer or not after.integer or after.before.strip() not in _OF:
        return {"": list(rows)}
    found: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        found[f"{after.values[row]:g}"].append(row)
    return found


def _print_of(series: TemplateSeries, column: NumberColumn) -> tuple[str, str]:
    """Return the text around a column: its name; its place and the name of the next one where it has none."""
    before = column.before.strip().lower()
    if not any(map(str.isalpha, before)) and BAR not in before:
        after = series.columns[column.index + 1].before if column.index + 1 < len(series.columns) else ""
        return f"{column.index} {before}", column.after.strip()[:2] + after.strip()[:16]
    return before[-16:], column.after.strip()[:2]


def _may_be_loss(column: NumberColumn, values: Sequence[float]) -> bool:
    """Return whether a column may be a loss: numbers with decimals that differ, without the name of something else."""
    if column.duration or column.integer or len(set(values)) == 1:
        return False
    return not is_no_loss(name_before(column.before))


def _counts(column: NumberColumn, values: Sequence[float]) -> bool:
    """Return whether a column may be a counter: whole numbers that grow, and restart at most now and then."""
    if (column.index and column.before.strip() in _OF) or is_no_step(name_before(column.before)):
        return False  # the end of the counter before it, or a counter inside a step
    if not column.integer or column.after.startswith("%") or values[-1] < 0 or len(set(values)) < 5:
        return False
    rises = sum(later > earlier for earlier, later in pairwise(values))
    falls = [(earlier, later) for earlier, later in pairwise(values) if later < earlier]
    wanders = sum(later > earlier / 2 for earlier, later in falls)
    return rises >= _GROWS * (rises + len(falls)) and wanders <= 0.05 * len(values)
