"""The candidates for the seconds per step, with their scores.

A name alone proves little: `time` may be of a step, of the fifty steps since the last report, of one part of a step, or since the start.
So every printed time is a candidate. A candidate that agrees with a clock (printed stamps, elapsed times, the arrival of lines) gains; one
that contradicts it is dropped, whatever its name; below a threshold no step time is reported.
"""

import re
from collections import Counter
from collections.abc import Sequence
from enum import Enum, auto
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ..read.robust import median, robust_median, spread
from .pace import REMAINING, ObservedStepTime, growing, pairs, steps_between
from .reports import Report

ENOUGH = 3
"""Differences that a clock must rest on before it decides."""
_STEADY = 0.3
"""Spread below which a clock is steady enough to contradict."""


class StepTimeCandidate(msgspec.Struct, frozen=True):
    """One way to read seconds per step off the reports.

    Attributes:
        what: The field and how it is read, for a person.
        method: As in `records.JobMetric`.
        seconds: Per step.
        score: Probability that it is right, 0 to 1.
        why: Reason for the score.
        agrees: A clock agrees with it.
        key: The printed time that it rests on (`reports.key_of`); empty where it is another.
        stride: Steps over which that time is spread.
    """

    what: str
    method: str
    seconds: float
    score: float
    why: str
    agrees: bool = False
    key: str = ""
    stride: float = 1.0

    def in_report(self, report: Report) -> float | None:
        """Return seconds per step as `report` alone states them; None where it does not."""
        if self.key:
            return report.times[self.key] / self.stride if self.key in report.times else None
        return 1 / report.step_rate if self.method == "rate" and report.step_rate else None


def is_close(ratio: float) -> bool:
    """Return whether two times of this ratio agree."""
    return 0.8 <= ratio <= 1.2


def _is_near(ratio: float) -> bool:
    """Return whether a stated time may agree with a clock, which includes work outside steps (evaluations, checkpoints)."""
    return 0.5 <= ratio <= 1.35


def reference(paces: Sequence[ObservedStepTime]) -> ObservedStepTime | None:
    """Return the clock that candidates are compared with: the first with enough differences, or with two equal ones."""
    paces = [pace for pace in paces if pace.name != REMAINING]  # an estimate of the program
    found = next((pace for pace in paces if pace.count >= ENOUGH), None)
    return found or next((pace for pace in paces if pace.count == ENOUGH - 1 and _are_equal(pace)), None)


def _are_equal(pace: ObservedStepTime) -> bool:
    return pace.method == "timestamps" and not pace.coarse and abs(pace.mean / pace.seconds - 1) < 0.05


class Relation(Enum):
    """Relation of a candidate to a clock."""

    EQUAL = auto()
    NEAR = auto()
    """It may leave out work outside steps (evaluations, checkpoints)."""
    SMOOTHED = auto()
    """Near, but it is the smoothed rate of a bar, and the clock is steady over eight differences or more."""
    INTERVAL = auto()
    """Equal, spread over the steps since the report before."""
    NEAR_INTERVAL = auto()
    HELD_BACK = auto()
    """Longer than the clock, of lines that arrived late or were replayed."""
    LONGER = auto()
    SHORTER = auto()
    MUCH_SHORTER = auto()
    """Less than a fifth of a steady clock."""


class Effect(NamedTuple):
    """Effect of a relation on a score: factor, addend, whether the clock agrees, and the reason as text."""

    factor: float
    addend: float
    agrees: bool
    why: str


EFFECTS = {
    Relation.EQUAL: Effect(1.0, 0.3, True, "agrees with the {clock} within {error:.0%}"),
    Relation.NEAR: Effect(1.0, 0.05, True, "near the {clock}: {ratio:.0%} of their time"),
    Relation.SMOOTHED: Effect(1.0, -0.3, True, "near the {clock}: {ratio:.0%} of their time"),
    Relation.INTERVAL: Effect(1.0, 0.25, True, "agrees with the {clock} as the time of an interval"),
    Relation.NEAR_INTERVAL: Effect(1.0, 0.05, True, "agrees with the {clock} as the time of an interval"),
    Relation.HELD_BACK: Effect(0.8, 0.0, False, "contradicts the {clock}: {ratio:.3g} times their time"),
    Relation.LONGER: Effect(0.2, 0.0, False, "contradicts the {clock}: {ratio:.3g} times their time"),
    Relation.SHORTER: Effect(1.0, -0.1, False, "contradicts the {clock}: {ratio:.3g} times their time"),
    Relation.MUCH_SHORTER: Effect(1.0, -0.6, False, "contradicts the {clock}: {ratio:.3g} times their time"),
}
"""Tuned on the corpus."""


def relation_of(candidate: StepTimeCandidate, clock: ObservedStepTime, ratio: float, *, interval: bool) -> Relation:
    """Return the relation for the `ratio` of a candidate's time to the clock's; `interval`: it may be of all steps since a report."""
    steady = clock.unsteady <= _STEADY
    if is_close(ratio):
        return Relation.EQUAL
    if _is_near(ratio):
        return Relation.SMOOTHED if candidate.method == "rate" and steady and clock.count >= 8 else Relation.NEAR
    per_step = ratio / clock.stride
    if interval and clock.stride > 1 and _is_near(per_step):
        return Relation.INTERVAL if is_close(per_step) else Relation.NEAR_INTERVAL
    if ratio > 1:
        return Relation.HELD_BACK if clock.method == "arrival" and ratio > 3 and not steady else Relation.LONGER
    return Relation.MUCH_SHORTER if steady and ratio < 0.2 else Relation.SHORTER


def compare(
    candidate: StepTimeCandidate, clock: ObservedStepTime | None, *, interval: bool, mean: float | None = None
) -> StepTimeCandidate:
    """Return `candidate` with its score after the comparison with a clock.

    Args:
        candidate: The candidate.
        clock: The clock; None where there is none.
        interval: It may be the time of all steps since the report before.
        mean: Mean of its values. Where the clock has pauses or ticks slowly, means agree and medians do not.
    """
    if clock is None:
        return candidate
    ratio = candidate.seconds / clock.seconds
    if clock.method == "arrival" and is_close(candidate.seconds / clock.mean):
        ratio = candidate.seconds / clock.mean
    if mean is not None and (clock.coarse or clock.unsteady > _STEADY) and is_close(mean / clock.mean):
        ratio = mean / clock.mean
    relation = relation_of(candidate, clock, ratio, interval=interval)
    effect = EFFECTS[relation]
    if relation in (Relation.INTERVAL, Relation.NEAR_INTERVAL):
        what = f"{candidate.what} over {clock.stride:g} steps"
        candidate = replace(candidate, what=what, seconds=candidate.seconds / clock.stride, stride=clock.stride)
    score = candidate.score * effect.factor + effect.addend
    source = "arrival of lines" if clock.method == "arrival" else "printed timestamps"
    why = effect.why.format(clock=source, ratio=ratio, error=abs(ratio - 1))
    return scored(candidate, min(1.0, score) if relation is Relation.EQUAL else score, why, agrees=effect.agrees)


def scored(candidate: StepTimeCandidate, score: float, why: str, *, agrees: bool = True) -> StepTimeCandidate:
    """Return `candidate` with another score and its reason."""
    return replace(candidate, score=score, why=why, agrees=agrees)


THRESHOLD = 0.5
"""Minimum score for reporting a step time."""
_FEW = 4
"""One report in so many must hold a field. A summary at the end may call anything a speed."""
_FORMS = {
    "part": re.compile(
        r"(?i)(?:^|[^a-z])(?:data|load\w*|read\w*|fwd|forward|bwd|backward|optim\w*|opt|comm|sync|wait\w*|h2d|io|ckpt|save\w*|gen"
        r"|generation|rollout|reward|actor|critic|ref|adv|update_\w+|loader|batch_?gen\w*|all_?reduce|allgather|grad\w*|preprocess\w*|compile)"
        r"(?:[^a-z]|$)"
    ),
    "pass": re.compile(r"(?i)(?:^|[^a-z])(?:fwd|forward|bwd|backward)(?:[^a-z]|$)"),
    "whole": re.compile(r"(?i)(?:^|[^a-z])(?:step|iter|iteration|total|took|dt|batch)(?:[^a-z]|$)"),
    "of_epochs": re.compile(r"(?i)^span:(?:.*[^a-z])?epochs?(?:[^a-z]|$)"),
    # Names of times of all steps since the report before.
    "interval": re.compile(
        r"(?i)(?:^|[^a-z])(?:since (?:the )?last|interval|(?:steps|iter\w*|batches) (?:in|took|take))(?:[^a-z]|$)"
    ),
    # Names of times that are of one step or of all since the report before: only a clock decides.
    "undecided": re.compile(r"(?i)(?:^|[^a-z])(?:took|taken|elapsed|spent)(?:[^a-z]|$)"),
}


def candidates(window: Sequence[Report], paces: Sequence[ObservedStepTime]) -> list[StepTimeCandidate]:
    """Return the candidates for the seconds per step, the most likely first."""
    clock = reference(paces)
    found = [candidate for key in _keys(window) if (candidate := _of_time(window, key, clock))]
    if clock is None:
        found = [each for candidate in found if (each := _spread_over_interval(candidate, window))]
    found = _without_shorter_than_passes(found, window)
    rates = [1 / report.step_rate for report in window if report.step_rate]
    seconds = robust_median(rates)
    if seconds is not None and len(rates) * _FEW >= len(window):
        stated = StepTimeCandidate("steps a second", "rate", seconds, 0.75, "printed")
        found.append(compare(stated, clock, interval=False))
    found = _finest(found, window)
    found += [_of_clock(pace, clock) for pace in paces]
    return sorted(found, key=lambda candidate: -candidate.score)


def _finest(found: list[StepTimeCandidate], window: Sequence[Report]) -> list[StepTimeCandidate]:
    """Prefer, of two printed values of one speed, the one with more digits: 0.005 it/s and 218.03 s/it are the same speed."""
    rounding = {candidate: _rounding(candidate, window) for candidate in found}
    for coarse in found:
        for fine in found:
            same = abs(fine.seconds / coarse.seconds - 1) <= 1.1 * rounding[coarse]
            if same and 2 * rounding[fine] < rounding[coarse]:
                score = max(coarse.score, fine.score)
                return [replace(each, score=score) if each is fine else each for each in found if each is not coarse]
    return found


def _rounding(candidate: StepTimeCandidate, window: Sequence[Report]) -> float:
    """Return the largest relative error of a printed speed that its number of decimals allows."""
    return _rounding_of([report.times.get(candidate.key) if candidate.key else report.step_rate for report in window])


def rate_rounding(window: Sequence[Report]) -> float:
    """Return the largest relative error of the printed steps a second; 0 where none are printed."""
    return _rounding_of([report.step_rate for report in window])


def _rounding_of(printed: Sequence[float | None]) -> float:
    values = [value for value in printed if value]
    decimals = max((len(f"{value:.10f}".rstrip("0").partition(".")[2]) for value in values), default=0)
    return 0.5 * 10.0**-decimals / median(values) if values else 0.0


def _keys(window: Sequence[Report]) -> list[str]:
    """Return the printed times that may be of a step: not those that only grow, or are of epochs by name."""
    clocks = growing(window)
    keys = dict.fromkeys(key for report in window for key in report.times)
    return [key for key in keys if key not in clocks and not _FORMS["of_epochs"].match(key)]


def _of_time(window: Sequence[Report], key: str, clock: ObservedStepTime | None) -> StepTimeCandidate | None:
    role, name = key.split(":", 1)
    name = "" if name.isdigit() else name
    counted = _counted(window, role)
    values = [report.times[key] for report in counted if report.times.get(key)]
    seconds = robust_median(values)
    if not seconds:
        return None
    if role != "step" and (len(values) < ENOUGH or len(values) * 2 < len(counted)):
        return None  # a total, most likely
    what = f"`{name}`" if name else "a time without a name"
    stated = StepTimeCandidate(what, "stated", seconds, 0.0, "printed", key=key)
    is_part = _FORMS["part"].search(name) is not None and not _is_name_of_counter(name, counted)
    if len(values) * _FEW < len(window):
        once = role == "step" and not is_part and (not name or _FORMS["whole"].search(name))
        return scored(stated, THRESHOLD, "printed in few reports", agrees=False) if once else None
    if len(values) >= 4 and _counts_up(values):
        return scored(stated, 0.0, "grows like a counter: no time of a step", agrees=False)
    if role == "span" and _counts_down(values):
        return scored(stated, 0.0, "falls all the time: what remains", agrees=False)
    score, why = _prior(role, counted), "printed"
    if role == "span" and sum(len(report.times) for report in counted) == len(values):
        score += 0.15  # the only time there is
    if role == "span" and _FORMS["interval"].search(name):
        score += 0.15
    if is_part:
        score, why = score - 0.35, "its name is that of a part"
    elif _FORMS["whole"].search(name):
        score += 0.15
    return compare(replace(stated, score=score, why=why), clock, interval=True, mean=fmean(values))


def _counted(window: Sequence[Report], role: str) -> list[Report]:
    """Return the reports whose times are of a step: they count steps, or are those of several ranks without any counter."""
    ranked = len({report.rank for report in window if report.rank is not None}) > 1
    return [
        report
        for report in window
        if role == "step" or report.step is not None or (ranked and report.rank is not None and report.epoch is None)
    ]


def _is_name_of_counter(name: str, counted: Sequence[Report]) -> bool:
    """Return whether a time has the name of what is counted: `Generation time` under `Running generation 7`."""
    words = {report.step_name.lower().rpartition(" ")[2] for report in counted}
    return name.lower().partition(" ")[0] in words


def _prior(role: str, counted: Sequence[Report]) -> float:
    """Return the score of a role. A "clock" that goes up and down is the time of a step only where each step is reported."""
    if role == "clock" and any(steps_between(earlier, later) != 1 for earlier, later in pairs(counted)):
        return 0.0
    return {"step": 0.8, "time": 0.6, "clock": 0.6, "span": 0.35}[role]


def _spread_over_interval(candidate: StepTimeCandidate, window: Sequence[Report]) -> StepTimeCandidate | None:
    """Return `candidate`, or that of all steps since the report before, where its name or its length shows that; None where unclear."""
    apart = [steps_between(earlier, later) for earlier, later in pairs(window)]
    stride = median(apart) if apart and not candidate.key.startswith("step:") else 1
    long = candidate.seconds * stride >= 1800.0  # half an hour between two reports is too long
    if stride <= 1 or not (long or _FORMS["interval"].search(candidate.key)):
        return None if stride > 1 and _FORMS["undecided"].search(candidate.key) else candidate
    what = f"{candidate.what} over {stride:g} steps"
    why = "of one step, it would be half an hour to the next report" if long else "its name is that of an interval"
    return replace(candidate, what=what, seconds=candidate.seconds / stride, why=why, stride=stride)


def _without_shorter_than_passes(
    found: Sequence[StepTimeCandidate], window: Sequence[Report]
) -> list[StepTimeCandidate]:
    """Return the candidates that are as long as the forward and backward passes of a step, and the passes themselves."""
    keys = {key for report in window for key in report.times}
    passes = {key for key in keys if _FORMS["pass"].search(key)}
    longest = max((median(report.times[key] for report in window if key in report.times) for key in passes), default=0)
    return [candidate for candidate in found if candidate.key in passes or candidate.seconds >= 0.9 * longest]


def _counts_up(values: Sequence[float]) -> bool:
    """Return whether whole numbers grow by the same step nearly each time; they may restart at an epoch."""
    if any(value != int(value) for value in values):
        return False
    (usual, often), *_ = Counter(later - earlier for earlier, later in pairwise(values)).most_common(1)
    return usual > 0 and often * 4 >= 3 * (len(values) - 1)


def _counts_down(values: Sequence[float]) -> bool:
    """Return whether `values` fall nearly all the time, by much or second by second."""
    falls = sum(a >= b for a, b in pairwise(values))
    if values[-1] > 0.7 * median(values) and any(value != int(value) for value in values):
        return False
    return len(set(values)) >= ENOUGH and falls * 8 >= 7 * (len(values) - 1)


def _of_clock(pace: ObservedStepTime, clock: ObservedStepTime | None) -> StepTimeCandidate:
    if pace.method == "arrival":
        what, score = "arrival of lines", 0.55
    else:
        what, score = f"`{pace.name.split(':', 1)[-1]}`" if pace.name else "printed timestamps", 0.7
    if pace.name == REMAINING:
        score = THRESHOLD if pace.unsteady <= 0.5 else 0.0
    score -= 0.3 if pace.count < 2 else 0.0
    why = f"{pace.count} differences over {pace.stride:g} steps each"
    candidate = StepTimeCandidate(what, pace.method, pace.seconds, score, why)
    if clock is None or clock is pace:
        return candidate
    compared = compare(candidate, clock, interval=False)
    return scored(candidate, min(score, compared.score), f"{why}; {compared.why}", agrees=compared.agrees)


def unsteady(window: Sequence[Report]) -> bool:
    """Return whether the stated times or rates vary wildly."""
    values = [
        next(iter(report.times.values()), 0.0) or report.step_rate or next(iter(report.rates.values()), 0.0)
        for report in window
    ]
    return spread(values) > 0.5
