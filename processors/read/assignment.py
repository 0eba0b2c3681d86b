"""Which columns are the step and the loss of the training: of all assignments the one that agrees best with itself.

What a proposer says of single columns is a prior. What tests it: counters grow, and begin anew only now and then; templates that count
the same stand at the same value; a counter stays below its end; samples are a whole batch a step; reports go on to the end of the log; a
loss stands beside the counter that it belongs to, and no part of it is larger.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from .roles import Phase, Proposed, Proposer, Role
from .series import NumberColumn, TemplateSeries, since_1970

CANDIDATES = 12
"""Columns of each kind that are weighed: the most likely ones by themselves."""

_LIKELY = 0.03
"""Minimum probability of a role for a column to be considered for it. Lower values weigh more columns, higher ones miss unusual ones."""
_GROWS, _WANDERS = 0.6, 0.05
"""Share of its moves that a counter rises, and of its values that fall back without beginning anew."""
_ROWS = 2
"""Minimum number of rows: with one row alone, a column does not show how it changes."""
_VALUES = 5
"""Different values that a counter has shown at least."""
_RIVALS = {Role.STEP: (Role.EPOCH, Role.SAMPLE, Role.TOKEN, Role.END), Role.LOSS: (Role.LOSS_PART,)}
"""What a column of the kind may be as well: it has one role."""
_OF = ("/", "of")
_SURE = 0.999
"""Maximum probability in the denominator of the odds, which is zero for a probability of 1."""
_UNDECIDED = -9.0
"""Score assumed for the rival of a lone candidate, in log odds. It is low, so that a probable candidate leads clearly."""


class ColumnInRole(msgspec.Struct, frozen=True):
    """A column in a role.

    Attributes:
        template: Which template.
        column: Which of its columns.
        value: Its newest value.
        place: Line of that.
        score: Log odds, agreements included.
        columns: All columns that print alike: key of the template, index of the column.
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
    """The best candidate, and by how much it leads the best one that says otherwise."""

    best: ColumnInRole
    margin: float


class SeriesRoles(msgspec.Struct, frozen=True):
    """What a log's series say of its training, the likeliest candidates first."""

    steps: tuple[ColumnInRole, ...] = ()
    losses: tuple[ColumnInRole, ...] = ()


def assign(series: Sequence[TemplateSeries], proposer: Proposer) -> SeriesRoles:
    """Return what may be the step and the loss of `series`."""
    if not series:
        return SeriesRoles()
    groups = list(_groups(series, proposer.propose(series)))
    newest = max(each.places[-1] for each in series)
    steps = _best(_of_role(groups, Role.STEP, newest))
    steps = sorted((_with_agreement(each, steps, series) for each in steps), key=lambda each: -each.score)
    steps = _without_twins(steps, series)
    losses = _best(_of_role(groups, Role.LOSS, newest))
    beside = steps[0].template if steps else -1
    losses = sorted(
        (_scored(each, 1.0 if each.template == beside else 0.0) for each in losses), key=lambda each: -each.score
    )
    return SeriesRoles(tuple(steps), tuple(losses))


def _without_twins(steps: Sequence[ColumnInRole], series: Sequence[TemplateSeries]) -> list[ColumnInRole]:
    """Return counters without those that count the same steps from another begin: of the epoch, or of the run. The longest stays."""
    kept: list[ColumnInRole] = []
    for each in steps:
        twin = next((place for place, other in enumerate(kept) if _twins(each, other, series)), None)
        if twin is None:
            kept.append(each)
        elif each.value > kept[twin].value:
            kept[twin] = msgspec.structs.replace(each, score=kept[twin].score)
    return kept


def _twins(one: ColumnInRole, other: ColumnInRole, series: Sequence[TemplateSeries]) -> bool:
    if one.template != other.template:
        return False
    columns = series[one.template].columns
    moves = [[b - a for a, b in pairwise(columns[each.column].values)] for each in (one, other)]
    alike = sum(a == b > 0 for a, b in zip(*moves, strict=True))
    return bool(alike > 0 and alike >= _GROWS * len(moves[0]))


def decided(found: Sequence[ColumnInRole]) -> Found | None:
    """Return the best of the candidates, the likeliest first, and its lead over the first that says otherwise."""
    if not found:
        return None
    others = (each.score for each in found[1:] if not math.isclose(each.value, found[0].value, rel_tol=1e-3))
    return Found(found[0], found[0].score - next(others, _UNDECIDED))


class _Group(msgspec.Struct, frozen=True):
    """Columns that print alike in several templates: a bar that ends, a line with one more field.

    Attributes:
        template: The template with most of the rows.
        column: Its column.
        series: The column itself.
        columns: Key of the template and index of each column.
        end: As in `ColumnInRole`.
        told: Line number and value of each row, in the order of lines.
        roles: Mean probability of each role.
        phases: Mean probability of each phase.
    """

    template: int
    column: int
    series: NumberColumn
    columns: tuple[tuple[int, int], ...]
    end: str
    told: list[tuple[int, float]]
    roles: Mapping[Role, float]
    phases: Mapping[Phase, float]


def _groups(series: Sequence[TemplateSeries], proposed: Sequence[Proposed]) -> Iterator[_Group]:
    """Yield the columns, those that print alike as one. Counters to different ends are different loops."""
    alike: dict[tuple[str, ...], list[tuple[int, NumberColumn, list[int]]]] = defaultdict(list)
    for place, each in enumerate(series):
        rows = _of_one_rank(each)
        for column in each.columns:
            for end, some in _by_end(each, column, rows).items():
                alike[*_print_of(each, column), end].append((place, column, some))
    for (*_, end), group in alike.items():
        told = sorted((series[place].places[row], column.values[row]) for place, column, rows in group for row in rows)
        told = [each for each in told if math.isfinite(each[1])]
        if len(told) < _ROWS or since_1970(told[-1][1]) is not None:
            continue
        count = sum(len(rows) for _, _, rows in group)
        main = max(group, key=lambda each: len(each[2]))
        yield _Group(
            main[0],
            main[1].index,
            group[0][1],
            tuple((series[place].key, column.index) for place, column, _ in group),
            end,
            told,
            {
                role: sum(
                    len(rows) * proposed[place].roles[column.index].get(role, 0.0) for place, column, rows in group
                )
                / count
                for role in Role
            },
            {
                phase: sum(len(rows) * proposed[place].phases.get(phase, 0.0) for place, _, rows in group) / count
                for phase in Phase
            },
        )


def _of_role(groups: Sequence[_Group], role: Role, newest: int) -> Iterator[ColumnInRole]:
    """Yield the columns that may have a role, with what speaks for each by itself."""
    for group in groups:
        chance, training = group.roles[role], group.phases[Phase.TRAINING]
        rivals = (group.roles[each] for each in _RIVALS[role])
        if chance < _LIKELY or group.phases[Phase.EVALUATION] > training or any(other > chance for other in rivals):
            continue
        values = [value for _, value in group.told]
        if role is Role.STEP and not _counts(group.series, values):
            continue
        if role is Role.LOSS and (group.series.duration or len(set(values)) == 1):
            continue
        score = math.log(chance / (1 - min(chance, _SURE))) + math.log(max(training, 0.02) / 0.6)
        score += 0.3 * math.log(len(values)) + 1.5 * math.log((group.told[-1][0] + 1) / (newest + 1))
        yield ColumnInRole(group.template, group.column, values[-1], group.told[-1][0], score, group.columns, group.end)


def _best(found: Iterator[ColumnInRole]) -> list[ColumnInRole]:
    return sorted(found, key=lambda each: -each.score)[:CANDIDATES]


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
    """Return what stands around a column: its name; its place and the name of the next one where it has none."""
    before = column.before.strip().lower()
    if not any(map(str.isalpha, before)) and "▉" not in before:
        after = series.columns[column.index + 1].before if column.index + 1 < len(series.columns) else ""
        return f"{column.index} {before}", column.after.strip()[:2] + after.strip()[:16]
    return before[-16:], column.after.strip()[:2]


def _of_one_rank(series: TemplateSeries) -> list[int]:
    return [place for place, rank in enumerate(series.ranks) if rank == series.ranks[-1]]


def _counts(column: NumberColumn, values: Sequence[float]) -> bool:
    """Return whether a column may be a counter: whole numbers that grow, and begin anew at most now and then."""
    if column.index and column.before.strip() in _OF:
        return False  # the end of the counter before it
    if not column.integer or column.after.startswith("%") or values[-1] < 0 or len(set(values)) < _VALUES:
        return False
    rises = sum(later > earlier for earlier, later in pairwise(values))
    falls = [(earlier, later) for earlier, later in pairwise(values) if later < earlier]
    wanders = sum(later > earlier / 2 for earlier, later in falls)
    return rises >= _GROWS * (rises + len(falls)) and wanders <= _WANDERS * len(values)


def _with_agreement(
    each: ColumnInRole, others: Sequence[ColumnInRole], series: Sequence[TemplateSeries]
) -> ColumnInRole:
    """Return a counter with what speaks for it: another template that counts the same, and an end that it stays below."""
    same = any(other.template != each.template and other.value == each.value for other in others)
    columns = series[each.template].columns
    after = columns[each.column + 1] if each.column + 1 < len(columns) else None
    ended = after is not None and after.before.strip() in _OF and max(after.values) >= each.value
    return _scored(each, 0.5 * same + 0.5 * ended)


def _scored(each: ColumnInRole, more: float) -> ColumnInRole:
    return msgspec.structs.replace(each, score=each.score + more)
