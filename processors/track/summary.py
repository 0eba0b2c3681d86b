"""From the newest reports to numbers: the best of the candidates that agree with themselves and with the clock."""

from collections import Counter
from collections.abc import Sequence
from math import isfinite

import msgspec

from schedmate_records import JobMetric

from ..grammar.extractor import read_layout
from ..grammar.numbers import NUMBER
from ..grammar.prefix import strip_prefix
from ..grammar.units import SAMPLES, UNNAMED
from .counters import CORRECTIONS, FEW, main_shape
from .pace import ObservedStepTime, counted_throughput, paces, pairs, stated_throughput, steps_between
from .reports import BAR, Report
from .step_time_candidates import THRESHOLD, StepTimeCandidate, candidates, is_close, reference, unsteady

SHORTEST_S, LONGEST_S = 1e-9, 366 * 86_400.0
"""Limits of a step, in seconds: a nanosecond and a year."""
ENOUGH = 3
"""Lines of one shape that are no summary."""


class Summary(msgspec.Struct, frozen=True):
    """The numbers of a window of reports; null where they are not printed. Fields as in `records.JobMetric`.

    `readings` are all candidates for the step time, the best first.
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


def within_reach(metric: JobMetric) -> JobMetric:
    """Return `metric` with null for a number that is impossible."""
    numbers = {name: getattr(metric, name) for name in ("epoch", "left_s", "throughput")}
    unknown: dict[str, object] = {
        name: None for name, value in numbers.items() if value is not None and not isfinite(value)
    }
    if "throughput" in unknown:
        unknown["throughput_unit"] = None
    if metric.step_time_s is not None and not SHORTEST_S <= metric.step_time_s <= LONGEST_S:
        unknown |= {"step_time_s": None, "method": "unknown"}
    return msgspec.structs.replace(metric, confidence=0.0, **unknown) if unknown else metric


def agree(window: Sequence[Report]) -> bool:
    """Return whether two reports come from one print statement, or one is plainly a report.

    In noise, a line that looks like a report looks like no other, and most of its numbers have no meaning.
    """
    if len({report.shape for report in window}) < len(window):
        return True
    return len(window) <= 4 and any(_is_plain(report.text) for report in window)  # a training may begin with so many


def _is_plain(text: str) -> bool:
    """Return whether `text` is words between blanks, and its fields explain at least half of its numbers."""
    body = strip_prefix(text).body
    if " " not in body or "\\x" in body or not body.replace("\t", " ").isprintable():
        return False
    words = sum(any(map(str.isdigit, word)) for word in body.split())
    return 2 * len(read_layout(body).fields) >= max(words, len(NUMBER.findall(body)))


def summarise(window: Sequence[Report]) -> Summary:
    """Return the numbers of the reports of one run, oldest first. `window` is not empty."""
    for correct in CORRECTIONS:
        window = correct(window)
    shape = main_shape(window)
    main = [report for report in window if report.shape == shape]
    last = _last_of_bar(window, main)
    newest_first = [*last, *main[::-1], *window[::-1]]
    rated = all(report.unnamed and report.rates and not report.step_rate for report in main)
    counts_samples = _counts_samples(main) and not rated
    clocks = paces(window)
    found = candidates(window, [] if counts_samples or rated else clocks)
    best = found[0] if found and found[0].score >= THRESHOLD else None
    throughput, unit = stated_throughput(window, alone=best is None)
    if best is not None and unit is not None and unit.startswith(UNNAMED) and not rated:
        throughput, unit = None, None  # it may be one of steps, samples or tokens; the step time is more certain
    if throughput is None:
        throughput, unit = counted_throughput(window, clocks if counts_samples else [], alone=best is None)
    if unit is not None and unit.startswith(UNNAMED):
        unit = SAMPLES + unit.removeprefix(UNNAMED)
    if (
        best is not None
        and best.method in ("timestamps", "arrival")
        and _is_of_rate(best.seconds, clocks, throughput, unit)
    ):
        best = None  # the counter counts what the rate does: samples, tokens, environment steps
    clock = reference(clocks)
    if rated and clock is not None and not any(BAR in report.times for report in main):
        single = best is not None and throughput is not None and is_close(best.seconds * throughput)
        counts_samples = not single and _is_of_rate(clock.seconds, [clock], throughput, unit)
    counted = (
        None
        if counts_samples or _is_size(main)
        else next((report for report in newest_first if report.step is not None), None)
    )
    lossy = _newest_loss(window, main, last)
    epoch = next((report for report in newest_first if report.epoch is not None), None)
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
        readings=tuple(found),
        step_name=counted.step_name if counted else "",
        step_total=counted.total if counted else None,
        epoch_total=epoch.epoch_total if epoch else None,
        left_s=counted.left if counted else None,
        loss_step=lossy.step if lossy else None,
    )


def _is_of_rate(seconds: float, clocks: Sequence[ObservedStepTime], throughput: float | None, unit: str | None) -> bool:
    """Return whether `seconds`, read off a clock, are of one of the things that the rate counts, many of them between two reports."""
    if throughput is None or unit is None or unit.endswith("/gpu"):
        return False
    return max((pace.stride for pace in clocks), default=1.0) > 1 and is_close(seconds * throughput)


def _last_of_bar(window: Sequence[Report], main: Sequence[Report]) -> list[Report]:
    """Return the newer reports that continue the counter of the main ones in another form: the last line of a bar."""
    newest = main[-1]
    if newest.step is None:
        return []
    return [
        report
        for report in window[:-3:-1]
        if report.step is not None
        and report.step >= newest.step
        and report.step_name == newest.step_name
        and report.total in (None, newest.total)
        and (not (report.has_loss and newest.has_loss) or report.loss_rank >= newest.loss_rank)
    ]


def _counts_samples(reports: Sequence[Report]) -> bool:
    """Return whether a bare `k/N` counts samples, not steps.

    Reports come every round number of steps (10, 50, 200); of samples, every batch size times that (640, 1280).
    """
    if len(reports) < 4 or not all(report.unnamed for report in reports):
        return False
    if any(report.step_rate or any(key.startswith("step:") for key in report.times) for report in reports):
        return False  # the unit of the bar names what it counts
    strides = {steps_between(earlier, later) for earlier, later in pairs(reports)}
    stride = strides.pop() if len(strides) == 1 else 0
    return stride >= 32 and 2 * stride % 10 ** (len(str(stride)) - 1) != 0


def _is_size(reports: Sequence[Report]) -> bool:
    """Return whether the number that has the name of a counter never changes: the size of a batch."""
    steps = {report.step for report in reports}
    printed = len(reports) + sum(report.repeats for report in reports)
    return len(steps) == 1 and printed >= ENOUGH and all(report.total is None for report in reports)


def _newest_loss(window: Sequence[Report], main: Sequence[Report], last: Sequence[Report]) -> Report | None:
    """Return the newest report of the loss that is printed regularly. Summaries and cut lines are left out."""
    lossy = [report for report in window if report.has_loss]
    often = max(Counter(report.shape for report in lossy).values(), default=0)
    if often == 0 or (often < ENOUGH and not any(map(_is_of_training, window))):
        return None
    ranks = Counter(report.loss_rank for report in lossy)
    found = next((report for report in [*main[::-1], *lossy[::-1]] if report.has_loss), lossy[-1])
    usual = min((rank for rank, count in ranks.items() if count * FEW >= len(lossy)), default=found.loss_rank)
    ranked = [report for report in [*last, *lossy[::-1]] if report.loss_rank == min(found.loss_rank, usual)]
    shapes = Counter(report.shape for report in ranked)
    regular = (report for report in ranked if shapes[report.shape] >= ENOUGH or report in last)
    return next(regular, ranked[0] if ranked else found)


def _is_of_training(report: Report) -> bool:
    """Return whether a report holds more than a loss: results of an evaluation may hold one too."""
    return report.step is not None or report.epoch is not None or bool(report.step_rate or report.rates or report.times)


def _confidence(window: Sequence[Report], best: StepTimeCandidate | None, throughput: float | None) -> float:
    by_method = {"stated": 0.95, "rate": 0.9, "timestamps": 0.8, "arrival": 0.6}
    confidence = by_method[best.method] if best else 0.8 if throughput is not None else 0.3
    if unsteady(window):
        confidence *= 0.7
    if best and not best.agrees and best.method in ("stated", "rate"):
        confidence *= 0.9
    return round(confidence * min(1.0, (len(window) + 1) / 4), 3)


def in_words(window: Sequence[Report]) -> str:
    """Return the numbers of the reports of one run, in words; empty without a report."""
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
