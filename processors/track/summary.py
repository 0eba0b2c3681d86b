"""From the newest reports to numbers.

A reading must agree with itself and with the clock. Stated step times are held against the
pace of printed stamps or arrivals: one that is as many times too long as there are steps between two reports is the time of
the whole interval; one that is longer than the clock allows is dropped.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from processors.grammar.units import SAMPLES

from .pace import Pace, by_clock, pairs
from .reports import Report
from .robust import robust_median, spread

_AGREES = (0.5, 1.35)
"""Stated over clock: work outside steps (evaluation, checkpoints) makes the clock's time longer, hardly ever shorter."""

_FEW = 4
"""One report in so many must hold a field before it speaks for all: a summary at the end may call anything a speed."""

_SURE = {"stated": 0.95, "rate": 0.9, "timestamps": 0.8, "arrival": 0.6, "unknown": 0.0}


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of a window of reports; null where they do not say. Fields as in `records.JobMetric`."""

    step: int | None
    epoch: float | None
    step_time_s: float | None
    throughput: float | None
    throughput_unit: str | None
    loss: float | None
    has_loss: bool
    method: str
    confidence: float


def summarise(window: Sequence[Report]) -> Summary:
    """Return what the reports of one run, oldest first, say together. `window` is not empty."""
    shape = _main_shape(window)
    main = [report for report in window if report.shape == shape]
    ordered = [*main[::-1], *window[::-1]]
    pace = by_clock(window)
    samples = _counts_samples(main)
    seconds, method, agrees = _step_time(window, None if samples else pace)
    throughput, unit = _throughput(window)
    if samples and pace is not None and throughput is None:
        throughput, unit = 1 / pace.seconds, SAMPLES
    counted = next((report for report in ordered if report.step is not None and not samples), None)
    lossy = next((report for report in ordered if report.has_loss), None)
    return Summary(
        step=counted.step if counted else None,
        epoch=next((report.epoch for report in ordered if report.epoch is not None), None),
        step_time_s=seconds,
        throughput=throughput,
        throughput_unit=unit,
        loss=lossy.loss if lossy else None,
        has_loss=lossy is not None,
        method=method,
        confidence=_confidence(window, method, throughput, agrees),
    )


def _counts_samples(reports: Sequence[Report]) -> bool:
    """Return whether a bare `k/N` counts samples, not steps.

    Reports come every round number of steps (10, 50, 200); of samples, every batch size times that (640, 1280).
    """
    strides = {
        later.step - earlier.step for earlier, later in pairs(reports) if later.step and earlier.step is not None
    }
    if len(strides) != 1 or len(reports) < 4 or not all(report.unnamed for report in reports):
        return False
    stride = strides.pop()
    return stride >= 32 and 2 * stride % 10 ** (len(str(stride)) - 1) != 0


def _main_shape(window: Sequence[Report]) -> int:
    """Return the shape of most reports; of two, the one with a step, then the newer one."""
    counts = Counter(report.shape for report in window)
    counted = {report.shape for report in window if report.step is not None}
    newest = {report.shape: place for place, report in enumerate(window)}
    return max(counts, key=lambda shape: (shape in counted, counts[shape], newest[shape]))


def _step_time(window: Sequence[Report], pace: Pace | None) -> tuple[float | None, str, bool]:
    """Return seconds per step, how they were obtained, and whether the clock agrees."""
    stated = [report.step_time for report in window if report.step_time]
    rates = [1 / report.step_rate for report in window if report.step_rate]
    for values, method in ((stated, "stated"), (rates, "rate")):
        seconds = robust_median(values)
        if seconds is None or len(values) * _FEW < len(window):
            continue
        if pace is None or pace.count < 3:
            return seconds, method, False
        if fitted := _fit(seconds, pace):
            return fitted, method, True
        if pace.method == "arrival" or seconds < _AGREES[0] * pace.seconds:
            return seconds, method, False
    if duration := _duration(window, pace):
        return duration
    if pace is not None and pace.count >= 2:
        return pace.seconds, pace.method, False
    return None, "unknown", False


def _fit(seconds: float, pace: Pace) -> float | None:
    """Return `seconds` per step where the clock agrees: as printed, or as the time of one interval between reports."""
    if _AGREES[0] <= seconds / pace.seconds <= _AGREES[1]:
        return seconds
    per_step = seconds / pace.stride
    if pace.stride > 1 and _AGREES[0] <= per_step / pace.seconds <= _AGREES[1]:
        return per_step
    return None


def _duration(window: Sequence[Report], pace: Pace | None) -> tuple[float, str, bool] | None:
    """Return the step time that a field called no more than `time` gives, where it can be one."""
    timed = [report for report in window if report.duration and report.step is not None]
    values = [report.duration for report in timed if report.duration]
    if len(values) < 3:
        return None
    if len(values) > 3 and all(later > earlier for earlier, later in pairwise(values)):
        return _elapsed(timed)
    middle = robust_median(values)
    if middle is None:
        return None
    if pace is None or pace.count < 3:
        return middle, "stated", False
    fitted = _fit(middle, pace)
    return (fitted, "stated", True) if fitted else None


def _elapsed(timed: Sequence[Report]) -> tuple[float, str, bool] | None:
    """A time that only grows is time since the start."""
    first, last = timed[0], timed[-1]
    if (
        first.step is None
        or last.step is None
        or last.step <= first.step
        or first.duration is None
        or last.duration is None
    ):
        return None
    return (last.duration - first.duration) / (last.step - first.step), "timestamps", False


def _throughput(window: Sequence[Report]) -> tuple[float | None, str | None]:
    units = Counter(report.unit for report in window if report.rate)
    if not units:
        return None, None
    newest = {report.unit: place for place, report in enumerate(window) if report.rate}
    unit = max(units, key=lambda name: (units[name], newest[name]))
    return robust_median([report.rate for report in window if report.rate and report.unit == unit]), unit


def _confidence(window: Sequence[Report], method: str, throughput: float | None, agrees: bool) -> float:
    sure = _SURE[method]
    if method == "unknown":
        sure = 0.8 if throughput is not None else 0.3
    values = [report.step_time or report.step_rate or report.rate or 0.0 for report in window]
    if spread(values) > 0.5:
        sure *= 0.7
    if not agrees and method in ("stated", "rate"):
        sure *= 0.9
    return round(sure * min(1.0, (len(window) + 1) / 4), 3)
