"""From the newest reports to numbers: of the readings that agree with themselves and with the clock (`readings`), the best is given."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isfinite

import msgspec

from schedmate_records import JobMetric

from ..grammar.extractor import read_layout
from ..grammar.numbers import NUMBER
from ..grammar.prefix import strip_prefix
from ..grammar.units import SAMPLES, UNNAMED
from ..read.robust import robust_median
from .counters import main_shape, moving, of_epochs, one_loop, outermost, past, stepping, swapped, tagged
from .pace import ObservedStepTime, clocked, paces, pairs
from .reports import BAR, Report
from .step_time_candidate import StepTimeCandidate, reference
from .step_time_candidates import THRESHOLD, readings, unsteady

SHORTEST_S, LONGEST_S = 1e-9, 366 * 86_400.0
"""Seconds of a step: a nanosecond, a year."""
_FINITE = ("epoch", "left_s", "throughput")


def within_reach(metric: JobMetric) -> JobMetric:
    """Return `metric` with null for a number that cannot be."""
    unknown: dict[str, object] = {
        name: None for name in _FINITE if (value := getattr(metric, name)) is not None and not isfinite(value)
    }
    if "throughput" in unknown:
        unknown["throughput_unit"] = None
    if metric.step_time_s is not None and not SHORTEST_S <= metric.step_time_s <= LONGEST_S:
        unknown |= {"step_time_s": None, "method": "unknown"}
    return msgspec.structs.replace(metric, confidence=0.0, **unknown) if unknown else metric


_ENOUGH, _FEW = 3, 4
_UNLIKE = 4
"""Reports, all unlike each other, that a log of training may begin with."""
_SAME = (0.8, 1.25)
_SURE = {"stated": 0.95, "rate": 0.9, "timestamps": 0.8, "arrival": 0.6, "unknown": 0.0}


class Summary(msgspec.Struct, frozen=True):
    """The numbers of a window of reports; null where they do not say. Fields as in `records.JobMetric`.

    `readings` are all that were weighed for the step time, the best first.
    """

    step: int | None
    epoch: float | None
    step_time_s: float | None
    throughput: float | None
    throughput_unit: str | None
    loss: float | None
    has_loss: bool
    method: str
    confidence: float
    readings: tuple[StepTimeCandidate, ...] = ()
    step_name: str = ""
    step_total: int | None = None
    epoch_total: int | None = None
    left_s: float | None = None
    loss_step: int | None = None


def agree(window: Sequence[Report]) -> bool:
    """Return whether two reports come from one print statement, or one is plainly a report.

    In noise, what looks like a report looks like no other, and most of its numbers mean nothing.
    """
    if len({report.shape for report in window}) < len(window):
        return True
    return len(window) <= _UNLIKE and any(_plain(report.text) for report in window)


def _plain(text: str) -> bool:
    """Return whether `text` is words between blanks, and its fields explain at least half of its numbers."""
    body = strip_prefix(text).body
    if " " not in body or "\\x" in body or not body.replace("\t", " ").isprintable():
        return False
    words = sum(any(map(str.isdigit, word)) for word in body.split())
    return 2 * len(read_layout(body).fields) >= max(words, len(NUMBER.findall(body)))


def summarise(window: Sequence[Report]) -> Summary:
    """Return what the reports of one run, oldest first, say together. `window` is not empty."""
    window = one_loop(past(of_epochs(stepping(moving(outermost(swapped(tagged(window))))))))
    shape = main_shape(window)
    main = [report for report in window if report.shape == shape]
    alike = _alike(window, main)
    ordered = [*alike, *main[::-1], *window[::-1]]
    by_sample = all(report.unnamed and report.rates and not report.step_rate for report in main)
    samples = _counts_samples(main) and not by_sample
    clocks = paces(window)
    weighed = readings(window, [] if samples or by_sample else clocks)
    best = weighed[0] if weighed and weighed[0].score >= THRESHOLD else None
    throughput, unit = _throughput(window, alone=best is None)
    if best is not None and unit is not None and unit.startswith(UNNAMED) and not by_sample:
        throughput, unit = None, None  # it may be one of steps, samples or tokens: the step time tells more
    if throughput is None:
        throughput, unit = _counted(window, clocks if samples else [], best)
    if unit is not None and unit.startswith(UNNAMED):
        unit = SAMPLES + unit.removeprefix(UNNAMED)
    if best is not None and throughput is not None and _per_sample(best, clocks, throughput, unit):
        best = None  # the counter counts what the rate does: samples, tokens, environment steps
    samples = samples or (
        by_sample and not any(BAR in report.times for report in main) and _at_rate(clocks, best, throughput, unit)
    )
    counted = next((report for report in ordered if report.step is not None and not samples), None)
    lossy = _newest_loss(window, alike, main)
    epoch = next((report for report in ordered if report.epoch is not None), None)
    return Summary(
        step=counted.step if counted else None,
        epoch=epoch.epoch if epoch else None,
        step_time_s=best.seconds if best else None,
        throughput=throughput,
        throughput_unit=unit,
        loss=lossy.loss if lossy else None,
        has_loss=lossy is not None,
        method=best.method if best else "unknown",
        confidence=_confidence(window, best, throughput),
        readings=tuple(weighed),
        step_name=counted.step_name if counted else "",
        step_total=counted.total if counted else None,
        epoch_total=epoch.epoch_total if epoch else None,
        left_s=counted.left if counted else None,
        loss_step=lossy.step if lossy else None,
    )


def _per_sample(
    best: StepTimeCandidate, clocks: Sequence[ObservedStepTime], throughput: float, unit: str | None
) -> bool:
    """Return whether `best`, read off a clock, is the time of one of the things that the rate counts, many at a time."""
    stride = max((pace.stride for pace in clocks), default=1.0)
    whole = best.method in ("timestamps", "arrival") and unit is not None and not unit.endswith("/gpu")
    return whole and stride > 1 and _SAME[0] <= best.seconds * throughput <= _SAME[1]


def _at_rate(
    clocks: Sequence[ObservedStepTime], best: StepTimeCandidate | None, throughput: float | None, unit: str | None
) -> bool:
    """Return whether a bare `k/N` grows by the clock as fast as the samples do that are printed beside: it counts them."""
    clock = reference(clocks)
    if clock is None or clock.stride <= 1 or throughput is None or unit is None or unit.endswith("/gpu"):
        return False
    single = best is not None and _SAME[0] <= best.seconds * throughput <= _SAME[1]  # one sample a step
    return not single and _SAME[0] <= clock.seconds * throughput <= _SAME[1]


def _counts_samples(reports: Sequence[Report]) -> bool:
    """Return whether a bare `k/N` counts samples, not steps.

    Reports come every round number of steps (10, 50, 200); of samples, every batch size times that (640, 1280).
    """
    if len(reports) < 4 or not all(report.unnamed for report in reports):
        return False
    if any(report.step_rate or any(key.startswith("step:") for key in report.times) for report in reports):
        return False  # the bar says what it counts
    strides = {
        later.step - earlier.step for earlier, later in pairs(reports) if later.step and earlier.step is not None
    }
    if len(strides) != 1:
        return False
    stride = strides.pop()
    return stride >= 32 and 2 * stride % 10 ** (len(str(stride)) - 1) != 0


def _newest_loss(window: Sequence[Report], alike: Sequence[Report], main: Sequence[Report]) -> Report | None:
    """Return the newest report of the loss that is printed again and again: summaries are not, nor what a cut line has of it."""
    lossy = [report for report in window if report.has_loss]
    often = max(Counter(report.shape for report in lossy).values(), default=0)
    if often == 0 or (often < _ENOUGH and not any(map(_of_training, window))):
        return None
    ranks = Counter(report.loss_rank for report in lossy)
    found = next((report for report in [*main[::-1], *lossy[::-1]] if report.has_loss), lossy[-1])
    usual = min((rank for rank, count in ranks.items() if count * _FEW >= len(lossy)), default=found.loss_rank)
    rank = min(found.loss_rank, usual)
    shapes = Counter(report.shape for report in lossy if report.loss_rank == rank)
    newest = (
        report
        for report in [*alike, *lossy[::-1]]
        if report.loss_rank == rank and (shapes[report.shape] >= _ENOUGH or report in alike)
    )
    return next(newest, next((report for report in lossy[::-1] if report.loss_rank == rank), found))


def _of_training(report: Report) -> bool:
    """Return whether a report tells more than a loss: results of an evaluation may hold one too."""
    return report.step is not None or report.epoch is not None or bool(report.step_rate or report.rates or report.times)


def _alike(window: Sequence[Report], main: Sequence[Report]) -> list[Report]:
    """Return the newer reports that count on where the main ones stop, in other words: the last line of a bar."""
    last = main[-1]
    if last.step is None:
        return []
    alike = [
        report
        for report in window[-2:]
        if report.step is not None
        and report.step >= last.step
        and report.step_name == last.step_name
        and report.total in (None, last.total)
        and (not (report.has_loss and last.has_loss) or report.loss_rank >= last.loss_rank)
    ]
    return alike[::-1]


def _throughput(window: Sequence[Report], alone: bool) -> tuple[float | None, str | None]:
    units = Counter(unit for report in window for unit in report.rates)
    if not units:
        return None, None
    newest = {unit: place for place, report in enumerate(window) for unit in report.rates}
    unit = max(units, key=lambda name: (units[name], newest[name]))
    counted = [report for report in window if unit in report.rates]
    stepped = [report for report in counted if report.step is not None]
    if len(stepped) * 2 >= len(counted):
        counted = stepped or counted  # what the ends of epochs say may be of something else
    if not alone and len(counted) * _FEW < len(window):
        return None, None  # a summary, over a slow start perhaps
    if len(counted) < _ENOUGH:
        return counted[-1].rates[unit], unit  # summaries: the newest is of this run
    if unit.endswith("/gpu"):
        return robust_median([report.rates[unit] for report in counted]), unit
    most = max(len(report.rank_rates) for report in counted)
    return robust_median([_of_all(report, unit) for report in counted if len(report.rank_rates) == most]), unit


def _of_all(report: Report, unit: str) -> float:
    """Return the speed of all ranks that report beside each other: their sum, or what each of them prints alike."""
    own, others = report.rates[unit], list(report.rank_rates.values())
    return own if unit != next(iter(report.rates)) or all(other == own for other in others) else own + sum(others)


def _counted(
    window: Sequence[Report], samples: Sequence[ObservedStepTime], best: StepTimeCandidate | None
) -> tuple[float | None, str | None]:
    """Return the throughput that counters of samples or tokens give by the clock, where none is printed."""
    if samples:
        return 1 / samples[0].seconds, SAMPLES
    if done := _neighbours(window, lambda _, later: later.done):
        return 1 / done.seconds, SAMPLES
    if best is None and (counted := _neighbours(window, lambda earlier, later: _more(earlier.count, later.count))):
        return 1 / counted.seconds, next(report.count_unit for report in reversed(window) if report.count is not None)
    return None, None


def _more(earlier: float | None, later: float | None) -> float | None:
    return later - earlier if earlier is not None and later is not None and later > earlier else None


def _neighbours(
    window: Sequence[Report], progress: Callable[[Report, Report], float | None]
) -> ObservedStepTime | None:
    found = [(earlier, later) for earlier, later in pairwise(window) if progress(earlier, later)]
    known = clocked(window, found, lambda earlier, later: progress(earlier, later) or 1.0) if len(found) >= 2 else []
    return next((pace for pace in known if pace.count >= 2), None)


def _confidence(window: Sequence[Report], best: StepTimeCandidate | None, throughput: float | None) -> float:
    sure = _SURE[best.method] if best else 0.8 if throughput is not None else 0.3
    if unsteady(window):
        sure *= 0.7
    if best and not best.agrees and best.method in ("stated", "rate"):
        sure *= 0.9
    return round(sure * min(1.0, (len(window) + 1) / 4), 3)


def in_words(window: Sequence[Report]) -> str:
    """Return what the reports of one run say together, in words; empty without a report."""
    if not window:
        return ""
    known = summarise(window)
    rate = f"{known.throughput:g} {known.throughput_unit}" if known.throughput is not None else None
    named = (
        ("step", known.step),
        ("epoch", known.epoch),
        ("loss", known.loss),
        ("seconds per step", known.step_time_s and round(known.step_time_s, 6)),
        ("throughput", rate),
    )
    return ", ".join(f"{name} {'unknown' if value is None else value}" for name, value in named)
