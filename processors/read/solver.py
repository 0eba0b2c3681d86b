"""Finds what the numbers of events count: the assignment of one counter and one unit that is most consistent with sizes and clock.

The name of a counter is a prior. It is tested: differences of a counter of samples are multiples of the batch, of one of tokens multiples
of batch times length; a step's time at the stated rate is a whole batch. Only the time of training counts.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from .events import Event, EventState, training_clock
from .robust import without_pauses
from .roles import Role, counted

MARGIN = 0.15
"""Minimum lead of the score of the best assignment over one with another result."""
_NEAR_RATE = 0.3
"""Relative difference between the measured and the stated rate, which may include pauses."""
_MANY_EPOCHS = 1000
"""Value above which a counter counts no epochs."""


class CounterPoint(msgspec.Struct, frozen=True):
    """A value of a counter, and the seconds of training when it was first and last printed."""

    value: float
    first: float
    last: float


class EventReading(msgspec.Struct, frozen=True):
    """One reading of a log's events.

    Attributes:
        counter: Name of the number that counts.
        role: What it counts.
        per_step: Its growth in a step; None where unknown.
        samples: Samples of one thing counted; None where unknown.
        seconds: Seconds of training for each thing counted; None where unknown.
        value: Its newest value.
        points: Number of different values.
        score: Sum of the evidence, names included.
        agreements: The evidence, for a person.
    """

    counter: str
    role: Role
    per_step: float | None
    samples: float | None
    seconds: float | None
    value: float
    points: int
    score: float
    agreements: tuple[str, ...] = ()

    @property
    def step(self) -> int | None:
        """The newest step; None where the counter does not determine it."""
        return round(self.value / self.per_step) if self.per_step and self.role is not Role.EPOCH else None

    @property
    def step_time_s(self) -> float | None:
        """Seconds per step."""
        return self.seconds * self.per_step if self.seconds and self.per_step else None

    @property
    def samples_per_s(self) -> float | None:
        """Samples a second, of all devices together."""
        return self.samples / self.seconds if self.seconds and self.samples else None


class Solution(msgspec.Struct, frozen=True):
    """The best assignment, and the best one with another result."""

    best: EventReading
    other: EventReading | None = None

    @property
    def margin(self) -> float:
        """Score between the two; that of the best alone where there is no other."""
        return self.best.score - (self.other.score if self.other else 0.0)


def solve(state: EventState, rate: float | None = None) -> Solution | None:
    """Return the best reading of the events of a stream; None where they count nothing, or several readings are equally likely.

    Args:
        state: The events.
        rate: Samples or tokens a second that the log states.
    """
    clock = training_clock(state.events)
    found = [
        each for name, points in counters(state.events, clock) for each in _assignments(name, points, state, clock[-1])
    ]
    found = [_against_rate(each, rate, state) for each in found]
    found.sort(key=lambda each: (each.score, each.points), reverse=True)
    if not found or found[0].score < 0.3:  # names alone reach 0.5
        return None
    best = found[0]
    solution = Solution(best, next((each for each in found[1:] if _differs(best, each)), None))
    return solution if solution.margin >= MARGIN else None


def _against_rate(each: EventReading, rate: float | None, state: EventState) -> EventReading:
    """Return `each` held against the stated rate: a step's time at that rate is a whole batch."""
    if not rate or not each.samples_per_s:
        return each
    whole = [1.0, *([state.length] if state.length else [])]
    if any(math.isclose(each.samples_per_s * things, rate, rel_tol=_NEAR_RATE) for things in whole):
        return _scored(each, 0.6, f"{each.samples_per_s:.4g} samples/s are near the stated rate {rate:.4g}")
    return _scored(each, -0.6, f"{each.samples_per_s:.4g} samples/s are far from the stated rate {rate:.4g}")


def _scored(each: EventReading, more: float, why: str) -> EventReading:
    return msgspec.structs.replace(each, score=round(each.score + more, 3), agreements=(*each.agreements, why))


def _differs(best: EventReading, other: EventReading) -> bool:
    if best.counter == other.counter:
        return best.role is not other.role
    if best.step_time_s and other.step_time_s:
        return not math.isclose(best.step_time_s, other.step_time_s, rel_tol=_NEAR_RATE)
    return False


def counters(events: Sequence[Event], clock: Sequence[float]) -> Iterator[tuple[str, list[CounterPoint]]]:
    """Yield what only grows: the numbers of one name, of all events whose numbers fit between each other."""
    kinds: dict[str, dict[str, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for place, event in enumerate(events):
        for name, value in event.numbers.items():
            kinds[name][event.name].append((place, value))
    for name, by_event in kinds.items():
        merged: list[tuple[int, float]] = []
        amounts = _ends(name, by_event, events)
        for rows in amounts or sorted(by_event.values(), key=lambda rows: -len({value for _, value in rows})):
            trial = sorted([*merged, *rows])
            if all(a[1] <= b[1] for a, b in pairwise(trial)):
                merged = trial
        points: list[CounterPoint] = []
        for place, value in merged:
            if points and points[-1].value == value:
                points[-1] = CounterPoint(value, points[-1].first, clock[place])
            else:
                points.append(CounterPoint(value, clock[place], clock[place]))
        if len(points) >= 2 and (points[0].value or points[-1].value):
            yield name, points


def _ends(
    name: str, by_event: dict[str, list[tuple[int, float]]], events: Sequence[Event]
) -> list[list[tuple[int, float]]]:
    """Return the ends of stretches that a number names the begin of, another one how long they are: `first` + `count`.

    A stretch that is named by its begin lags behind by one; its end is the progress of the training.
    """
    found: list[list[tuple[int, float]]] = []
    for rows in by_event.values():
        begun = events[rows[0][0]].begins
        if not begun or len(rows) < 2:
            continue
        for other in events[rows[0][0]].numbers:
            sizes = [events[place].numbers.get(other, 0.0) for place, _ in rows]
            grown = [later - earlier for (_, earlier), (_, later) in pairwise(rows)]
            if other == name or not all(sizes) or grown != sizes[:-1]:
                continue
            ends: list[tuple[int, float]] = []
            for (place, value), size in zip(rows, sizes, strict=True):
                end = next((at for at in range(place, len(events)) if events[at].ends == begun), None)
                if not ends:
                    ends.append((place, value))
                if end is not None:
                    ends.append((end, value + size))
            found.append(ends)
    return found


def _assignments(name: str, points: Sequence[CounterPoint], state: EventState, total: float) -> Iterator[EventReading]:
    seconds, differences = _seconds(points, total), [later.value - earlier.value for earlier, later in pairwise(points)]
    named = counted(name)
    batch, length, top = state.batch, state.length, points[-1].value
    for role, per, samples in (
        (Role.STEP, 1.0, batch),
        (Role.SAMPLE, batch, 1.0),
        (Role.TOKEN, batch * length if batch and length else None, 1 / length if length else None),
        (Role.EPOCH, 1 / math.ceil(state.samples / batch) if state.samples and batch else None, state.samples),
    ):
        reasons: list[str] = []
        score = _prior(role, named, top) + min(1.0, len(points) / 10) * 0.3
        if role in (Role.SAMPLE, Role.TOKEN) and per and per > 1:
            fits = _multiples(differences, per)
            if fits >= 0.9:
                score += 0.8 if role is Role.SAMPLE else 1.25
                reasons.append(f"{fits:.0%} of its differences are multiples of {per:g}")
            else:
                score -= 0.3
        if role is Role.EPOCH and samples is None and named is not Role.EPOCH:
            score -= 1.0
        if seconds is None:
            score -= 0.4
        elif samples or role is not Role.EPOCH:
            reasons.append(f"{seconds:.3g} s of training for each")
        if score > 0:
            yield EventReading(name, role, per, samples, seconds, top, len(points), round(score, 3), tuple(reasons))


def _seconds(points: Sequence[CounterPoint], total: float) -> float | None:
    """Return the seconds of training for each thing counted; None where all values were printed at once."""
    if points[-1].last - points[0].first < 0.05 * total:
        return None
    grown = [(later.last - earlier.last, later.value - earlier.value) for earlier, later in pairwise(points)]
    known = grown[1:] if len(grown) > 3 else grown  # the first compiles and warms up
    return without_pauses([passed / amount for passed, amount in known[-20:] if passed > 0])


def _prior(role: Role, named: Role | None, top: float) -> float:
    """Return the score of a role by the name of a counter and its newest value."""
    score = 0.5 if named is role else -0.2 if named is None else 0.0
    if role is Role.EPOCH:
        return score - 0.15 - (top > _MANY_EPOCHS)  # a finer counter is preferred
    if role is Role.STEP and named is Role.EPOCH:
        return score + (0.3 if top > _MANY_EPOCHS else -0.5)
    return score


def _multiples(differences: Sequence[float], unit: float) -> float:
    fits = sum(
        difference >= unit and abs(difference / unit - round(difference / unit)) < 1e-6 for difference in differences
    )
    return fits / len(differences)
