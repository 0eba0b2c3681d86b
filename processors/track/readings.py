"""What the printed times may mean, and which reading the evidence favours.

A name alone proves little: `time` may be of a step, of the fifty steps since the last report, of one part of a step, or since the
start. So every printed time is a candidate. A candidate that agrees with a clock (printed stamps, elapsed times, the arrival of lines)
gains; one that contradicts it is dropped, whatever its name says; below a threshold nothing is said.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, median

import msgspec
from msgspec.structs import replace

from processors.grammar.units import SAMPLES

from .pace import GROWING, Pace, growing, pairs
from .reports import Report
from .robust import robust_median, spread

CLOSE = (0.8, 1.2)
"""Stated over clock: agreement."""

_AGREES = (0.5, 1.35)
"""Stated over clock: work outside steps (evaluation, checkpoints) makes the clock's time longer, hardly ever shorter."""

_FEW = 4
"""One report in so many must hold a field before it speaks for all: a summary at the end may call anything a speed."""

THRESHOLD = 0.5
"""Score below which a reading is not given."""

_STEADY = 0.3
"""Spread below which a clock is steady enough to contradict."""

_ENOUGH = 3
"""Differences that a clock must rest on before it is listened to."""

_NEAR = 0.05
"""Mean of two differences over their median: they are alike. (The median of two that are not is their mean, weighted otherwise.)"""

_MANY = 8
"""Differences from which a steady clock is better than the smoothed rate of a bar that it is only near to."""

_PART = re.compile(
    r"(?i)(?:^|[^a-z])(?:data|load\w*|read\w*|fwd|forward|bwd|backward|optim\w*|opt|comm|sync|wait\w*|h2d|io|ckpt|save\w*|gen"
    r"|generation|rollout|reward|actor|critic|ref|adv|update_\w+|loader|batch_?gen\w*|all_?reduce|allgather|grad\w*|preprocess\w*|compile)"
    r"(?:[^a-z]|$)"
)
_OF_EPOCHS = re.compile(r"(?i)^span:(?:.*[^a-z])?epochs?(?:[^a-z]|$)")
_WHOLE = re.compile(r"(?i)(?:^|[^a-z])(?:step|iter|iteration|total|took|dt|batch)(?:[^a-z]|$)")
_LOOP = 0.55
_LONGEST_WAIT = 1800.0
"""Seconds between two reports that nobody waits for."""
_SINCE = re.compile(
    r"(?i)\bsince (?:the )?last\b|\binterval\b|\blast (?:log|report|print)|\bbetween (?:logs|reports|prints)\b"
)
_TOOK = re.compile(r"(?i)(?:^|[^a-z])(?:took|taken|elapsed|spent)(?:[^a-z]|$)")
"""Where no clock decides, a time of this name is that of all steps since the report before."""
_PASS = re.compile(r"(?i)(?:^|[^a-z])(?:fwd|forward|bwd|backward)(?:[^a-z]|$)")
_SHORTER, _FALLEN = 0.9, 0.7
_PRIOR = {"step": 0.8, "time": 0.6, "clock": 0.6, "span": 0.35}


class Reading(msgspec.Struct, frozen=True):
    """One way to read seconds per step off the reports.

    Attributes:
        what: The field and how it is read, for a person.
        method: As in `records.JobMetric`.
        seconds: Per step.
        score: How likely it is right, 0 to 1.
        why: What speaks for or against it.
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

    def of(self, report: Report) -> float | None:
        """Return seconds per step as `report` alone states them; None where it does not."""
        if self.key:
            return report.times[self.key] / self.stride if self.key in report.times else None
        return 1 / report.step_rate if self.method == "rate" and report.step_rate else None


def reference(paces: Sequence[Pace]) -> Pace | None:
    """Return the clock that the others are held against: the first that rests on enough, or on two differences that are alike."""
    found = next((pace for pace in paces if pace.count >= _ENOUGH), None)
    return found or next((pace for pace in paces if pace.count == _ENOUGH - 1 and _alike(pace)), None)


def _alike(pace: Pace) -> bool:
    return pace.method == "timestamps" and not pace.coarse and abs(pace.mean / pace.seconds - 1) < _NEAR


def readings(window: Sequence[Report], paces: Sequence[Pace]) -> list[Reading]:
    """Return all readings of seconds per step, the most likely first."""
    clock = reference(paces)
    found = [
        reading
        for key in _keys(window)
        if (reading := (_of_interval if _SINCE.search(key) else _stated)(window, key, clock))
    ]
    if clock is None:
        found = [_bearable(reading, window) for reading in found]
    found = _wholes(_sums(found), window)
    rates = [1 / report.step_rate for report in window if report.step_rate]
    seconds = robust_median(rates)
    if seconds is not None and len(rates) * _FEW >= len(window):
        found.append(_against(Reading("steps a second", "rate", seconds, 0.75, "printed"), clock, interval=False))
    found += [_of_clock(pace, clock) for pace in paces]
    found += _of_loops(window) if not found else []
    found += _of_rest(window) if all(reading.score < THRESHOLD for reading in found) else []
    return sorted(found, key=lambda reading: -reading.score)


def _of_loops(window: Sequence[Report]) -> list[Reading]:
    """Return the reading of lines that are printed once a loop, at its end: `235/235 - 12s`."""
    ended = [report for report in window if report.total and report.step == report.total and len(report.times) == 1]
    if len(ended) < 2 or len(ended) * 2 < len(window):
        return []
    seconds = robust_median([next(iter(report.times.values())) / (report.total or 1) for report in ended])
    return [Reading("the time of a loop over its steps", "stated", seconds, _LOOP, "printed")] if seconds else []


def _of_rest(window: Sequence[Report]) -> list[Reading]:
    """Return the reading of the time that remains, over the steps that remain: where it falls from step to step by as much."""
    expected = [
        (r.left, (r.total or 0) - (r.step or 0)) for r in window if r.left and r.total and r.total > (r.step or 0)
    ]
    fallen = [
        ((earlier.left or 0.0) - later.left, (later.step or 0) - (earlier.step or 0))
        for earlier, later in pairs(window)
        if earlier.left and later.left is not None
    ]
    steps = sum(apart for _, apart in fallen)
    if len(expected) < GROWING or not steps:
        return []
    seconds = sum(left for left, _ in expected) / sum(rest for _, rest in expected)
    per_step = sum(passed for passed, _ in fallen) / steps
    if not CLOSE[0] <= per_step / seconds <= CLOSE[1]:
        return []  # it remains of more than this loop
    return [Reading("what remains over the steps that remain", "stated", seconds, _LOOP, "falls by as much a step")]


def of_model(seconds: float, share: float, clock: Pace | None) -> Reading:
    """Return the reading of a template that a language model explained, held against the clock like any other.

    Args:
        seconds: Per step, as its lines state.
        share: Of the intervals between its lines, those in which step, stated time and clock agree.
        clock: The clock of the other reports.
    """
    why = f"its lines agree with the clock in {share:.0%} of the intervals"
    reading = Reading("a template that a language model explained", "model", seconds, THRESHOLD, why, agrees=True)
    return reading if clock is None else _against(reading, clock, interval=False)


def _keys(window: Sequence[Report]) -> list[str]:
    """Return the printed times that may be of a step: not those that only grow, or are of epochs by name."""
    clocks = growing(window)
    return list(
        dict.fromkeys(key for report in window for key in report.times if not (key in clocks or _OF_EPOCHS.match(key)))
    )


def _stated(window: Sequence[Report], key: str, clock: Pace | None) -> Reading | None:
    role, name = key.split(":", 1)
    counted = [report for report in window if role == "step" or report.step is not None or report.rank is not None]
    values = [report.times[key] for report in counted if report.times.get(key)]
    seconds = robust_median(values)
    if not seconds:
        return None
    if role != "step" and (len(values) < _ENOUGH or len(values) * 2 < len(counted)):
        return None  # a total, most likely
    if len(values) * _FEW < len(window):
        once = Reading(f"`{name}`", "stated", seconds, THRESHOLD, "printed in few reports", key=key)
        unit = not name or name.isdigit()  # its unit says so: `50ms/step`
        return once if role == "step" and (unit or _WHOLE.search(name)) and not _PART.search(name) else None
    score, why = _prior(role, counted), "printed"
    if role == "span" and sum(len(report.times) for report in counted) == len(values):
        score += 0.15  # the only time there is
    if name and not name.isdigit():
        if _PART.search(name) and not _of_counter(name, counted):
            score, why = score - 0.35, "its name is that of a part"
        elif _WHOLE.search(name):
            score += 0.15
    what = f"`{name}`" if name and not name.isdigit() else "a time without a name"
    if len(values) >= 4 and _counts(values):
        return Reading(what, "stated", seconds, 0.0, "grows like a counter: no time of a step", key=key)
    if role == "span" and _counts_down(values):
        return Reading(what, "stated", seconds, 0.0, "falls all the time: what remains", key=key)
    return _against(Reading(what, "stated", seconds, score, why, key=key), clock, interval=True, mean=fmean(values))


def _of_counter(name: str, counted: Sequence[Report]) -> bool:
    """Return whether a time bears the name of what is counted: `Generation time` under `Running generation 7`."""
    words = {report.step_name.lower().rpartition(" ")[2] for report in counted}
    return name.lower().partition(" ")[0] in words


def _bearable(reading: Reading, window: Sequence[Report]) -> Reading:
    """Return `reading`, or that of all steps since the report before, where its name or its length says so."""
    apart = [(later.step or 0) - (earlier.step or 0) for earlier, later in pairs(window)]
    stride = median(apart) if apart and not reading.key.startswith("step:") else 1
    long = reading.seconds * stride >= _LONGEST_WAIT
    if stride <= 1 or not (long or (_TOOK.search(reading.key) and _fills_batches(reading.seconds, stride, window))):
        return reading
    what = f"{reading.what} over {stride:g} steps"
    why = "of one step, it would be half an hour to the next report" if long else "its name is that of time gone by"
    return replace(reading, what=what, seconds=reading.seconds / stride, why=why, stride=stride)


def _fills_batches(seconds: float, steps: float, window: Sequence[Report]) -> bool:
    """Return whether the samples of so many seconds, by the stated rate, are a whole number a step; True where none is stated."""
    rate = robust_median([report.rates[SAMPLES] for report in window if SAMPLES in report.rates])
    if rate is None:
        return True
    batch = rate * seconds / steps
    return batch >= 1 - _NEAR and abs(batch - round(batch)) < _NEAR * batch


def _of_interval(window: Sequence[Report], key: str, clock: Pace | None) -> Reading | None:
    """Return the reading of a time that says of itself that it is one of all steps since the report before."""
    seconds = robust_median([report.times[key] for report in window if report.times.get(key)])
    apart = [(later.step or 0) - (earlier.step or 0) for earlier, later in pairs(window)]
    if not seconds or not apart:
        return None
    stride = median(apart)
    what = f"`{key.split(':', 1)[1]}` over {stride:g} steps"
    reading = Reading(what, "stated", seconds / stride, _PRIOR["step"], "printed", key=key, stride=stride)
    return _against(reading, clock, interval=False)


def _prior(role: str, counted: Sequence[Report]) -> float:
    """Return what the name is worth. A "clock" that goes up and down is the time of a step only where each step is reported."""
    apart = role == "clock" and any(later.step != (earlier.step or 0) + 1 for earlier, later in pairs(counted))
    return 0.0 if apart else _PRIOR[role]


def _counts_down(values: Sequence[float]) -> bool:
    """Return whether `values` fall all the time, but where the next loop begins: by much, or second by second."""
    falls = sum(a >= b for a, b in pairwise(values))
    if values[-1] > _FALLEN * median(values) and any(value != int(value) for value in values):
        return False
    return len(values) >= _ENOUGH and len(set(values)) >= _ENOUGH and falls * 8 >= 7 * (len(values) - 1)


def _counts(values: Sequence[float]) -> bool:
    """Return whether whole numbers grow by the same step nearly each time."""
    if any(value != int(value) for value in values):
        return False
    (usual, often), *_ = Counter(later - earlier for earlier, later in pairwise(values)).most_common(1)
    return usual > 0 and often * 4 >= 3 * (len(values) - 1)  # it may begin anew at an epoch


def _against(reading: Reading, clock: Pace | None, interval: bool, mean: float | None = None) -> Reading:
    """Return `reading` held against a clock.

    Args:
        reading: A reading.
        clock: The clock; None where there is none.
        interval: It may be the time of all steps since the report before.
        mean: Mean of what it rests on. Where the clock sees pauses or ticks slowly, means agree and medians do not.
    """
    if clock is None:
        return reading
    source = "arrival of lines" if clock.method == "arrival" else "printed timestamps"
    ratio = reading.seconds / clock.seconds
    if clock.method == "arrival" and CLOSE[0] <= reading.seconds / clock.mean <= CLOSE[1]:
        ratio = reading.seconds / clock.mean
    if mean is not None and (clock.coarse or clock.unsteady > _STEADY) and CLOSE[0] <= mean / clock.mean <= CLOSE[1]:
        ratio = mean / clock.mean
    apart = f"{abs(ratio - 1):.0%}"
    if CLOSE[0] <= ratio <= CLOSE[1]:
        return _with(reading, min(1.0, reading.score + 0.3), f"agrees with the {source} within {apart}")
    if _AGREES[0] <= ratio <= _AGREES[1]:
        smoothed = reading.method == "rate" and clock.unsteady <= _STEADY and clock.count >= _MANY
        return _with(
            reading, reading.score + (-0.3 if smoothed else 0.05), f"near the {source}: {ratio:.0%} of their time"
        )
    per_step = ratio / clock.stride
    if interval and clock.stride > 1 and _AGREES[0] <= per_step <= _AGREES[1]:
        bonus = 0.25 if CLOSE[0] <= per_step <= CLOSE[1] else 0.05
        spread_over = Reading(
            f"{reading.what} over {clock.stride:g} steps",
            reading.method,
            reading.seconds / clock.stride,
            0,
            "",
            key=reading.key,
            stride=clock.stride,
        )
        return _with(spread_over, reading.score + bonus, f"agrees with the {source} as the time of an interval")
    why = f"contradicts the {source}: {ratio:.3g} times their time"
    if ratio > _AGREES[1]:
        slow = (
            clock.method == "arrival" and ratio > 3 and clock.unsteady > _STEADY
        )  # lines that were held back, or replayed
        return _with(reading, reading.score * (0.8 if slow else 0.2), why, agrees=False)
    return _with(
        reading, reading.score - (0.6 if clock.unsteady <= _STEADY and ratio < 0.2 else 0.1), why, agrees=False
    )


def _with(reading: Reading, score: float, why: str, agrees: bool = True) -> Reading:
    return replace(reading, score=score, why=why, agrees=agrees)


def _sums(found: list[Reading]) -> list[Reading]:
    """Give credit to the one time that is the sum of two or more others."""
    stated = [reading for reading in found if reading.method == "stated"]
    if len(stated) < 3:
        return found
    largest = max(stated, key=lambda reading: reading.seconds)
    rest = sum(reading.seconds for reading in stated if reading is not largest)
    if not 0.9 <= rest / largest.seconds <= 1.02 or _PART.search(largest.key):
        return found
    whole = _with(largest, largest.score + 0.25, f"{largest.why}; the others add up to it", largest.agrees)
    return [
        whole if reading is largest else _with(reading, reading.score - 0.3, "a part of another") for reading in found
    ]


def _wholes(found: list[Reading], window: Sequence[Report]) -> list[Reading]:
    """Take credit from times that are shorter than a part of the step: a step lasts as long as its passes at least."""
    passes = {key for key in {key for report in window for key in report.times} if _PASS.search(key)}
    longest = max(
        (median(report.times[key] for report in window if key in report.times) for key in passes), default=0.0
    )
    return [
        _with(reading, reading.score - 0.5, f"{reading.why}; shorter than a pass of the step", reading.agrees)
        if reading.seconds < _SHORTER * longest and reading.key not in passes
        else reading
        for reading in found
    ]


def _of_clock(pace: Pace, clock: Pace | None) -> Reading:
    what = {"arrival": "arrival of lines"}.get(
        pace.method, f"`{pace.name.split(':', 1)[-1]}`" if pace.name else "printed timestamps"
    )
    score = {"arrival": 0.55}.get(pace.method, 0.7) - (0.3 if pace.count < 2 else 0.0)
    why = f"{pace.count} differences over {pace.stride:g} steps each"
    reading = Reading(what, pace.method, pace.seconds, score, why)
    if clock is None or clock is pace:
        return reading
    held = _against(reading, clock, interval=False)
    return _with(reading, min(score, held.score), f"{why}; {held.why}", held.agrees)


def unsteady(window: Sequence[Report]) -> bool:
    """Return whether what the reports state varies wildly."""
    values = [
        next(iter(report.times.values()), 0.0) or report.step_rate or next(iter(report.rates.values()), 0.0)
        for report in window
    ]
    return spread(values) > 0.5
