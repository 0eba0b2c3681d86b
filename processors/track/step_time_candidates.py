"""What the printed times may mean, and which reading the evidence favours.

A name alone proves little: `time` may be of a step, of the fifty steps since the last report, of one part of a step, or since the
start. So every printed time is a candidate. A candidate that agrees with a clock (printed stamps, elapsed times, the arrival of lines)
gains; one that contradicts it is dropped, whatever its name says; below a threshold nothing is said.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from msgspec.structs import replace

from ..grammar.units import SAMPLES, UNNAMED
from ..read.robust import median, robust_median, spread
from .pace import GROWING, ObservedStepTime, growing, pairs
from .reports import Report
from .step_time_candidate import CLOSE, ENOUGH, NEAR, StepTimeCandidate, against, reference, scored

_FEW = 4
"""One report in so many must hold a field before it speaks for all: a summary at the end may call anything a speed."""

THRESHOLD = 0.5
"""Score below which a reading is not given."""

_PART = re.compile(
    r"(?i)(?:^|[^a-z])(?:data|load\w*|read\w*|fwd|forward|bwd|backward|optim\w*|opt|comm|sync|wait\w*|h2d|io|ckpt|save\w*|gen"
    r"|generation|rollout|reward|actor|critic|ref|adv|update_\w+|loader|batch_?gen\w*|all_?reduce|allgather|grad\w*|preprocess\w*|compile)"
    r"(?:[^a-z]|$)"
)
_OF_EPOCHS = re.compile(r"(?i)^span:(?:.*[^a-z])?epochs?(?:[^a-z]|$)")
_WHOLE = re.compile(r"(?i)(?:^|[^a-z])(?:step|iter|iteration|total|took|dt|batch)(?:[^a-z]|$)")
_LOOP = 0.55
"""Confidence of the remaining time over the remaining steps. Programs estimate that time: higher values trust them more."""
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


def readings(window: Sequence[Report], paces: Sequence[ObservedStepTime]) -> list[StepTimeCandidate]:
    """Return all readings of seconds per step, the most likely first."""
    clock = reference(paces)
    found = [
        reading
        for key in _keys(window)
        if (reading := (_of_interval if _SINCE.search(key) else _stated)(window, key, clock))
    ]
    if clock is None:
        found = [_bearable(reading, window) for reading in found]
    found = _wholes(found, window)
    rates = [1 / report.step_rate for report in window if report.step_rate]
    seconds = robust_median(rates)
    if seconds is not None and len(rates) * _FEW >= len(window):
        found.append(
            against(StepTimeCandidate("steps a second", "rate", seconds, 0.75, "printed"), clock, interval=False)
        )
    found = _finest(found, window)
    found += [_of_clock(pace, clock) for pace in paces]
    found += _of_rest(window) if all(reading.score < THRESHOLD for reading in found) else []
    return sorted(found, key=lambda reading: -reading.score)


def _finest(found: list[StepTimeCandidate], window: Sequence[Report]) -> list[StepTimeCandidate]:
    """Prefer, of two printed values of one speed, the one with more digits: 0.005 it/s and 218.03 s/it are the same speed."""
    rounding = {reading: _rounding(reading, window) for reading in found}
    for coarse in found:
        for fine in found:
            same = abs(fine.seconds / coarse.seconds - 1) <= 1.1 * rounding[coarse]
            if same and 2 * rounding[fine] < rounding[coarse]:
                score = max(coarse.score, fine.score)
                return [replace(each, score=score) if each is fine else each for each in found if each is not coarse]
    return found


def _rounding(reading: StepTimeCandidate, window: Sequence[Report]) -> float:
    """Return the largest relative error of a printed speed that its number of decimals allows."""
    return _rounding_of([report.times.get(reading.key) if reading.key else report.step_rate for report in window])


def rate_rounding(window: Sequence[Report]) -> float:
    """Return the largest relative error of the printed steps a second; 0 where none are printed."""
    return _rounding_of([report.step_rate for report in window])


def _rounding_of(printed: Sequence[float | None]) -> float:
    values = [value for value in printed if value]
    decimals = max((len(f"{value:.10f}".rstrip("0").partition(".")[2]) for value in values), default=0)
    return 0.5 * 10.0**-decimals / median(values) if values else 0.0


def _of_rest(window: Sequence[Report]) -> list[StepTimeCandidate]:
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
    return [
        StepTimeCandidate(
            "what remains over the steps that remain", "stated", seconds, _LOOP, "falls by as much a step"
        )
    ]


def _keys(window: Sequence[Report]) -> list[str]:
    """Return the printed times that may be of a step: not those that only grow, or are of epochs by name."""
    clocks = growing(window)
    return list(
        dict.fromkeys(key for report in window for key in report.times if not (key in clocks or _OF_EPOCHS.match(key)))
    )


def _stated(window: Sequence[Report], key: str, clock: ObservedStepTime | None) -> StepTimeCandidate | None:
    role, name = key.split(":", 1)
    counted = _counted(window, role)
    values = [report.times[key] for report in counted if report.times.get(key)]
    seconds = robust_median(values)
    if not seconds:
        return None
    if role != "step" and (len(values) < ENOUGH or len(values) * 2 < len(counted)):
        return None  # a total, most likely
    if len(values) * _FEW < len(window):
        once = StepTimeCandidate(f"`{name}`", "stated", seconds, THRESHOLD, "printed in few reports", key=key)
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
        return StepTimeCandidate(what, "stated", seconds, 0.0, "grows like a counter: no time of a step", key=key)
    if role == "span" and _counts_down(values):
        return StepTimeCandidate(what, "stated", seconds, 0.0, "falls all the time: what remains", key=key)
    return against(
        StepTimeCandidate(what, "stated", seconds, score, why, key=key), clock, interval=True, mean=fmean(values)
    )


def _counted(window: Sequence[Report], role: str) -> list[Report]:
    """Return the reports whose times are of a step: they count steps, or are those of several ranks without any counter."""
    ranked = len({report.rank for report in window if report.rank is not None}) > 1
    return [
        report
        for report in window
        if role == "step" or report.step is not None or (ranked and report.rank is not None and report.epoch is None)
    ]


def _of_counter(name: str, counted: Sequence[Report]) -> bool:
    """Return whether a time bears the name of what is counted: `Generation time` under `Running generation 7`."""
    words = {report.step_name.lower().rpartition(" ")[2] for report in counted}
    return name.lower().partition(" ")[0] in words


def _bearable(reading: StepTimeCandidate, window: Sequence[Report]) -> StepTimeCandidate:
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
    rates = [report.rates.get(SAMPLES, report.rates.get(UNNAMED)) for report in window]
    rate = robust_median([each for each in rates if each is not None])
    if rate is None:
        return True
    batch = rate * seconds / steps
    return batch >= 1 - NEAR and abs(batch - round(batch)) < NEAR * batch


def _of_interval(window: Sequence[Report], key: str, clock: ObservedStepTime | None) -> StepTimeCandidate | None:
    """Return the reading of a time that says of itself that it is one of all steps since the report before."""
    seconds = robust_median([report.times[key] for report in window if report.times.get(key)])
    apart = [(later.step or 0) - (earlier.step or 0) for earlier, later in pairs(window)]
    if not seconds or not apart:
        return None
    stride = median(apart)
    what = f"`{key.split(':', 1)[1]}` over {stride:g} steps"
    reading = StepTimeCandidate(what, "stated", seconds / stride, _PRIOR["step"], "printed", key=key, stride=stride)
    return against(reading, clock, interval=False)


def _prior(role: str, counted: Sequence[Report]) -> float:
    """Return what the name is worth. A "clock" that goes up and down is the time of a step only where each step is reported."""
    apart = role == "clock" and any(later.step != (earlier.step or 0) + 1 for earlier, later in pairs(counted))
    return 0.0 if apart else _PRIOR[role]


def _counts_down(values: Sequence[float]) -> bool:
    """Return whether `values` fall all the time, but where the next loop begins: by much, or second by second."""
    falls = sum(a >= b for a, b in pairwise(values))
    if values[-1] > _FALLEN * median(values) and any(value != int(value) for value in values):
        return False
    return len(values) >= ENOUGH and len(set(values)) >= ENOUGH and falls * 8 >= 7 * (len(values) - 1)


def _counts(values: Sequence[float]) -> bool:
    """Return whether whole numbers grow by the same step nearly each time."""
    if any(value != int(value) for value in values):
        return False
    (usual, often), *_ = Counter(later - earlier for earlier, later in pairwise(values)).most_common(1)
    return usual > 0 and often * 4 >= 3 * (len(values) - 1)  # it may begin anew at an epoch


def _wholes(found: list[StepTimeCandidate], window: Sequence[Report]) -> list[StepTimeCandidate]:
    """Take credit from times that are shorter than a part of the step: a step lasts as long as its passes at least."""
    passes = {key for key in {key for report in window for key in report.times} if _PASS.search(key)}
    longest = max(
        (median(report.times[key] for report in window if key in report.times) for key in passes), default=0.0
    )
    return [
        scored(reading, reading.score - 0.5, f"{reading.why}; shorter than a pass of the step", reading.agrees)
        if reading.seconds < _SHORTER * longest and reading.key not in passes
        else reading
        for reading in found
    ]


def _of_clock(pace: ObservedStepTime, clock: ObservedStepTime | None) -> StepTimeCandidate:
    what = {"arrival": "arrival of lines"}.get(
        pace.method, f"`{pace.name.split(':', 1)[-1]}`" if pace.name else "printed timestamps"
    )
    score = {"arrival": 0.55}.get(pace.method, 0.7) - (0.3 if pace.count < 2 else 0.0)
    why = f"{pace.count} differences over {pace.stride:g} steps each"
    reading = StepTimeCandidate(what, pace.method, pace.seconds, score, why)
    if clock is None or clock is pace:
        return reading
    held = against(reading, clock, interval=False)
    return scored(reading, min(score, held.score), f"{why}; {held.why}", held.agrees)


def unsteady(window: Sequence[Report]) -> bool:
    """Return whether what the reports state varies wildly."""
    values = [
        next(iter(report.times.values()), 0.0) or report.step_rate or next(iter(report.rates.values()), 0.0)
        for report in window
    ]
    return spread(values) > 0.5
