"""Which columns are the step and the loss of the training: of all assignments the one that agrees best with itself.

What a proposer says of single columns is a prior. What tests it: counters grow, and begin anew only now and then; templates that count
the same stand at the same value; a counter stays below its end; reports go on to the end of the log; a loss stands beside the counter
that it belongs to.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from .roles import Phase, Proposer, Role
from .series import Column, TemplateSeries, since_1970

CANDIDATES = 12
"""Columns of each kind that are weighed: the most likely ones by themselves."""

LEAST = -2.0
MARGIN = 0.7
"""Log odds by which the best must lead what says otherwise, or null is given."""

_LIKELY = 0.03
_GROWS, _WANDERS = 0.6, 0.05
"""Share of its moves that a counter rises, and of its values that fall back without beginning anew."""
_ROWS = 2
_VALUES = 5
"""Different values that a counter has shown at least."""
_RIVALS = {Role.STEP: (Role.EPOCH, Role.SAMPLE, Role.TOKEN, Role.END), Role.LOSS: (Role.LOSS_PART,)}
"""What a column of the kind may be as well: it has one role."""
_OF = ("/", "of")


class Candidate(msgspec.Struct, frozen=True):
    """A column in a role.

    Attributes:
        template: Which template.
        column: Which of its columns.
        role: Its role.
        value: Its newest value.
        place: Line of that.
        score: Log odds, agreements included.
    """

    template: int
    column: int
    role: Role
    value: float
    place: int
    score: float


class Found(msgspec.Struct, frozen=True):
    """The best candidate, and by how much it leads the best one that says otherwise."""

    best: Candidate
    margin: float


class TrainingColumns(msgspec.Struct, frozen=True):
    """What a log's series say of its training; None where they do not, or several readings are as likely."""

    step: Found | None
    loss: Found | None


def find(series: Sequence[TemplateSeries], proposer: Proposer) -> TrainingColumns:
    """Return the step and the loss of `series`."""
    if not series:
        return TrainingColumns(None, None)
    roles, phases = proposer.roles(series), proposer.phases(series)
    newest = max(each.places[-1] for each in series)
    steps = list(_best(_of_role(series, roles, phases, Role.STEP, newest)))
    steps = sorted((_with_agreement(each, steps, series) for each in steps), key=lambda each: -each.score)
    step = _decided(steps)
    losses = list(_best(_of_role(series, roles, phases, Role.LOSS, newest)))
    beside = steps[0].template if steps else -1
    losses = sorted(
        (_scored(each, 1.0 if each.template == beside else 0.0) for each in losses), key=lambda each: -each.score
    )
    return TrainingColumns(step, _decided(losses))


def _best(found: Iterator[Candidate]) -> list[Candidate]:
    return sorted(found, key=lambda each: -each.score)[:CANDIDATES]


def _decided(found: Sequence[Candidate]) -> Found | None:
    if not found:
        return None
    other = next((each.score for each in found[1:] if not math.isclose(each.value, found[0].value, rel_tol=1e-3)), -9.0)
    return Found(found[0], found[0].score - other)


def _of_role(
    series: Sequence[TemplateSeries],
    roles: Sequence[Sequence[dict[Role, float]]],
    phases: Sequence[dict[Phase, float]],
    role: Role,
    newest: int,
) -> Iterator[Candidate]:
    """Yield the columns that may have a role.

    Those that print alike in several templates are one: a bar that ends, a line with one more field. Counters to different ends are
    different loops.
    """
    alike: dict[tuple[str, ...], list[tuple[int, Column, list[int]]]] = defaultdict(list)
    for place, each in enumerate(series):
        rows = _of_one_rank(each)
        for column in each.columns:
            for end, some in _by_end(each, column, rows).items():
                alike[*_print_of(each, column), end].append((place, column, some))
    for group in alike.values():
        count = sum(len(rows) for _, _, rows in group)
        chance = sum(len(rows) * roles[place][column.index].get(role, 0.0) for place, column, rows in group) / count
        training, other = (
            sum(len(rows) * phases[place].get(phase, 0.0) for place, _, rows in group) / count
            for phase in (Phase.TRAINING, Phase.EVALUATION)
        )
        if other > training:
            continue
        if chance < _LIKELY or any(
            sum(len(rows) * roles[place][column.index].get(each, 0.0) for place, column, rows in group) / count > chance
            for each in _RIVALS.get(role, ())
        ):
            continue  # it is something else of the kind
        told = sorted((series[place].places[row], column.values[row]) for place, column, rows in group for row in rows)
        told = [each for each in told if math.isfinite(each[1])]
        if len(told) < _ROWS or (role is Role.STEP and not _counts(group[0][1], [value for _, value in told])):
            continue
        if since_1970(told[-1][1]) is not None:
            continue
        score = math.log(chance / (1 - min(chance, 0.999))) + math.log(max(training, 0.02) / 0.6)
        score += 0.3 * math.log(count) + 1.5 * math.log((told[-1][0] + 1) / (newest + 1))
        main = max(group, key=lambda each: len(each[2]))
        yield Candidate(main[0], main[1].index, role, told[-1][1], told[-1][0], score)


def _by_end(series: TemplateSeries, column: Column, rows: Sequence[int]) -> dict[str, list[int]]:
    """Return the rows by the end that the column counts to; all under one key where it counts to none."""
    after = series.columns[column.index + 1] if column.index + 1 < len(series.columns) else None
    if after is None or not column.integer or not after.integer or after.before.strip() not in _OF:
        return {"": list(rows)}
    found: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        found[f"{after.values[row]:g}"].append(row)
    return found


def _print_of(series: TemplateSeries, column: Column) -> tuple[str, str]:
    """Return what stands around a column: its name; its place and the name of the next one where it has none."""
    before = column.before.strip().lower()
    if not any(map(str.isalpha, before)) and "▉" not in before:
        after = series.columns[column.index + 1].before if column.index + 1 < len(series.columns) else ""
        return f"{column.index} {before}", column.after.strip()[:2] + after.strip()[:16]
    return before[-16:], column.after.strip()[:2]


def _of_one_rank(series: TemplateSeries) -> list[int]:
    return [place for place, rank in enumerate(series.ranks) if rank == series.ranks[-1]]


def _counts(column: Column, values: Sequence[float]) -> bool:
    """Return whether a column may be a counter: whole numbers that grow, and begin anew at most now and then."""
    if column.index and column.before.strip() in _OF:
        return False  # the end of the counter before it
    if not column.integer or column.after.startswith("%") or values[-1] < 0 or len(set(values)) < _VALUES:
        return False
    rises = sum(later > earlier for earlier, later in pairwise(values))
    falls = [(earlier, later) for earlier, later in pairwise(values) if later < earlier]
    wanders = sum(later > earlier / 2 for earlier, later in falls)
    return rises >= _GROWS * (rises + len(falls)) and wanders <= _WANDERS * len(values)


def _with_agreement(each: Candidate, others: Sequence[Candidate], series: Sequence[TemplateSeries]) -> Candidate:
    """Return a counter with what speaks for it: another template that counts the same, and an end that it stays below."""
    same = any(other.template != each.template and other.value == each.value for other in others)
    columns = series[each.template].columns
    after = columns[each.column + 1] if each.column + 1 < len(columns) else None
    ended = after is not None and after.before.strip() in _OF and max(after.values) >= each.value
    return _scored(each, 0.5 * same + 0.5 * ended)


def _scored(each: Candidate, more: float) -> Candidate:
    return msgspec.structs.replace(each, score=each.score + more)
