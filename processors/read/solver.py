"""What the numbers of events count: the assignment of one counter and one unit that agrees best with sizes, counters and clock.

The name of a counter is a prior. What tests it: differences of a counter of samples are multiples of the batch, of one of tokens multiples
of batch times length; in an epoch a counter grows by the samples, or the steps, that an epoch has; what is done in a step's time at
the stated rate is a whole batch. Time is that of training alone.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from .events import Event, EventState, training_clock
from .robust import without_pauses
from .roles import Role, counted

LEAST = 0.3
"""Score below which no reading is taken."""

MARGIN = 0.15
"""Score by which the best assignment must lead one that says otherwise."""

_MULTIPLE = 1e-6
"""Maximum distance of a quotient from a whole number. It allows for rounding in floating-point arithmetic only."""
_OFTEN = 0.9
"""Share of the differences that must be multiples of the batch. It is below 1 because the last batch of an epoch may be smaller."""
_BURST = 0.05
"""Share of the time of training below which all values of a counter were told at once, after it."""
NEWEST = 20
"""Differences that a speed rests on."""
_NEAR, _NEAR_RATE = 0.15, 0.3
"""Apart from another counter, and from a rate that may hold a pause, or not."""
_MANY_EPOCHS = 1000
"""Value above which a counter of epochs more probably counts steps: few trainings have more epochs."""
_PRIOR = 0.5
"""Score that a name of the role gives a counter. Higher values trust names more, lower ones the other evidence."""


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
        per_step: How much it grows in a step; None where the log does not tell.
        samples: Of one thing counted; None where the log does not tell.
        seconds: Of training for each thing counted; None where the clock does not tell.
        value: Its newest value.
        points: Different values it rests on.
        score: How well it agrees, names included.
        agreements: What speaks for it, for a person.
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
        """The newest step; None where the counter does not tell it."""
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
    """The best assignment, and the best that says otherwise."""

    best: EventReading
    other: EventReading | None = None

    @property
    def margin(self) -> float:
        """Score between the two; that of the best alone where there is no other."""
        return self.best.score - (self.other.score if self.other else 0.0)


def solve(state: EventState, rate: float | None = None) -> Solution | None:
    """Return what the events of a stream say of its training; None where they count nothing, or several readings are as likely.

    Args:
        state: The events.
        rate: Samples or tokens a second that the log states.
    """
    clock = training_clock(state.events)
    found = [
        each for name, points in counters(state.events, clock) for each in _assignments(name, points, state, clock[-1])
    ]
    epoch = max((each for each in found if each.role is Role.EPOCH), key=lambda each: each.score, default=None)
    found = [_against_rate(_against_epochs(each, epoch, state), rate, state) for each in found]
    found.sort(key=lambda each: (each.score, each.points), reverse=True)
    if not found or found[0].score < LEAST:
        return None
    best = found[0]
    solution = Solution(best, next((each for each in found[1:] if _differs(best, each)), None))
    return solution if solution.margin >= MARGIN else None


def _against_epochs(each: EventReading, epoch: EventReading | None, state: EventState) -> EventReading:
    """Return `each` held against the epochs: in one, a counter grows by the steps, samples or tokens that an epoch has."""
    if epoch is None or each.role is Role.EPOCH or not (each.seconds and epoch.seconds and state.samples):
        return each
    an_epoch = {
        Role.STEP: math.ceil(state.samples / state.batch) if state.batch else None,
        Role.SAMPLE: state.samples,
        Role.TOKEN: state.samples * state.length if state.length else None,
    }[each.role]
    if not an_epoch:
        return each
    grown = epoch.seconds / each.seconds
    if math.isclose(grown, an_epoch, rel_tol=_NEAR):
        return _scored(each, 0.4, f"grows by {grown:.4g} an epoch, which has {an_epoch:g}")
    return _scored(each, -0.4, f"grows by {grown:.4g} an epoch, which has {an_epoch:g}")


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

    A stretch that is named by its begin lags behind by one; its end is where the training stands.
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
        said: list[str] = []
        score = _prior(role, named, top) + min(1.0, len(points) / 10) * 0.3
        if role in (Role.SAMPLE, Role.TOKEN) and per and per > 1:
            fits = _multiples(differences, per)
            if fits >= _OFTEN:
                score += 0.8 if role is Role.SAMPLE else 1.25
                said.append(f"{fits:.0%} of its differences are multiples of {per:g}")
            else:
                score -= 0.3
        if role is Role.EPOCH and samples is None and named is not Role.EPOCH:
            score -= 1.0
        if seconds is None:
            score -= 0.4
        elif samples or role is not Role.EPOCH:
            said.append(f"{seconds:.3g} s of training for each")
        if score > 0:
            yield EventReading(name, role, per, samples, seconds, top, len(points), round(score, 3), tuple(said))


def _seconds(points: Sequence[CounterPoint], total: float) -> float | None:
    """Return the seconds of training for each thing counted; None where all values were told at once."""
    if points[-1].last - points[0].first < _BURST * total:
        return None
    grown = [(later.last - earlier.last, later.value - earlier.value) for earlier, later in pairwise(points)]
    known = grown[1:] if len(grown) > 3 else grown  # the first compiles and warms up
    return without_pauses([passed / amount for passed, amount in known[-NEWEST:] if passed > 0])


def _prior(role: Role, named: Role | None, top: float) -> float:
    """Return how much the name of a counter, and how far it has come, speak for a role."""
    score = _PRIOR if named is role else -0.2 if named is None else 0.0
    if role is Role.EPOCH:
        return score - 0.15 - (top > _MANY_EPOCHS)  # a finer counter says more
    if role is Role.STEP and named is Role.EPOCH:
        return score + (0.3 if top > _MANY_EPOCHS else -0.5)
    return score


def _multiples(differences: Sequence[float], unit: float) -> float:
    fits = sum(
        difference >= unit and abs(difference / unit - round(difference / unit)) < _MULTIPLE
        for difference in differences
    )
    return fits / len(differences)
