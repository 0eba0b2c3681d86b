"""An analysis for a person, in sentences and quoted lines, and its form in a terminal."""

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from processors.formats.reading import FormatReading
from processors.track.step_time_candidates import THRESHOLD, StepTimeCandidate
from schedmate_records import (
    Alarm,
    Checkpoint,
    Failure,
    JobMetric,
    ModelAnswer,
    OverRanks,
    Reports,
    Severity,
    counted,
)
from streams.producers.chunker import SHIPPED

from ..analysis.analysis import Analysis
from ..analysis.node_log import Sign
from ..formats.words import template_in_words
from ..job_state import StateAlarm, job_state
from ..terminal import one_line
from ..top.sparkline import sparkline

_TEMPLATES = 3
"""Templates of reports that are shown."""
_ALARMS = 5
"""Alarms that are shown."""
_SIGNS = 50
"""Sorts of trouble of a node that are shown."""

_OUTLOOK = {
    True: "a restart should help",
    False: "a restart will not help",
    None: "it is unknown whether a restart helps",
}
_TIME_LIMITS = {"time_limit", "timeout", "ci_time_limit"}
"""Causes of attempts that a scheduler ended at their time limit."""
_MORE_TIME = "request more time or resume from the checkpoint"
NO_REPORT = "no line reports progress"
NO_CLOCK = "no time, rate or clock is printed with the steps"

METHODS = {
    "stated": "printed in the log",
    "rate": "from the printed rate",
    "timestamps": "from printed timestamps",
    "arrival": "from the arrival of lines",
    "model": "printed in the log, read with a format that a language model described",
}


class Row(NamedTuple):
    """A sentence about `name`; an empty name continues the row before."""

    name: str
    text: str


class Quote(NamedTuple):
    """A line of the log, that the row before rests on."""

    line: int
    text: str


Part = Row | Quote


def report(analysis: Analysis, explain: bool = False) -> RenderableType:
    """Return the parts of an analysis, as a terminal shows them."""
    return Group(Text(headline(analysis), style="bold"), *map(_render, parts(analysis, explain)), Text())


def _render(part: Part) -> Text:
    if isinstance(part, Row):
        return Text(f"  {part.name:<9} {part.text}")
    return Text(f"  {part.line:>9} | {part.text}", style="dim")


def headline(analysis: Analysis) -> str:
    """Return which log it is."""
    return f"{analysis.file}  {counted(analysis.lines, 'line')}"


def parts(analysis: Analysis, explain: bool = False) -> list[Part]:
    """Return what a person should know of a log: progress, speed, how it went, verdict and the quoted lines.

    With `explain`, also the readings of the step time that lost, and why.
    """
    if analysis.signs is not None:
        return _signs(analysis.signs)
    rows: list[Part] = [
        Row("progress", _progress(analysis.metric)),
        Row("speed", _speed(analysis.metric, analysis.readings)),
    ]
    rows += _format(analysis)
    rows += [*_how(analysis), *_ranks(analysis.over_ranks), *_curves(analysis)]
    rows += [*_saved(analysis.checkpoint), *_alarms(analysis.alarms)]
    if explain:
        rows += _explained(analysis)
    failure = analysis.failure
    if failure is None:
        rows.append(Row("verdict", analysis.illegible or "no failure seen"))
    else:
        rows.append(Row("verdict", verdict(failure)))
        rows += [Row("summary", failure.summary)] if failure.summary else []
        rows += [Quote(each.line, each.text) for each in failure.evidence]
        rows += [Row("to do", analysis.action)] if analysis.action else []
    rows += [Row("model", model_opinion(each)) for each in analysis.answers if each.failure]
    return rows


def state_sentence(analysis: Analysis) -> str:
    """Return how a run ended, in one line, with the line that shows it: `failed (cuda out of memory), line 812`."""
    failure = analysis.failure
    raised = [StateAlarm(each.kind, each.detail, each.since) for each in analysis.alarms if each.raised]
    state = job_state(
        "ended",
        exit_code=failure.exit_code if failure else None,
        signal=failure.signal if failure else None,
        cause=(failure.signature or failure.error_type) if failure else "",
        alarms=raised,
        now=0.0,
    )
    if failure is None:
        return ", ".join(part for part in (analysis.illegible or "no failure seen", state.reason) if part)
    return state.sentence(0.0) + (f", line {failure.root.line}" if failure.root else "")


def _format(analysis: Analysis) -> list[Part]:
    """Show the known format that was applied: who stated it, what it states and reads, what the lines contradict, how to correct it."""
    known, reading = analysis.format, analysis.format_reading
    teach = f"`schedmate formats teach {_log_name(analysis)}`"
    if known is None or reading is None:
        return [Row("format", f"unknown: {teach} asks you what its numbers mean")] if _is_unread(analysis) else []
    what = "a training" if known.training else "no training"
    author = one_line(known.author) or "a model"
    rows: list[Part] = [Row("format", f"{known.fingerprint[:12]}: {author} states {what}{_values(reading)}")]
    reports = [each for each in known.templates if each.reports is Reports.TRAINING and each.columns]
    rows += [Row("", one_line(template_in_words(each))) for each in reports[:_TEMPLATES]]
    rows += [Row("", f"not used, since the lines contradict it: {each}") for each in reading.contradictions]
    return [*rows, Row("", f"{teach} corrects it")]


def _log_name(analysis: Analysis) -> str:
    return "LOG" if analysis.file == "-" else shlex.quote(analysis.file)


def _is_unread(analysis: Analysis) -> bool:
    """Return whether the rules read too little of a log that may report a training."""
    metric = analysis.metric
    if metric is None:
        # A log of 20 lines without a report that the rules read may be one of an unknown format.
        return analysis.failure is None and not analysis.illegible and analysis.lines >= 20
    return metric.step_time_s is None and metric.throughput is None


def _values(reading: FormatReading) -> str:
    """Return the newest values that a format reads, in words."""
    found = [f"{str(role).replace('_', ' ')} {claim.value:g}" for role, claim in reading.values.items()]
    if reading.step_time is not None:
        found.append(f"{seconds(reading.step_time.value)} per step")
    if reading.throughput is not None:
        found.append(f"{reading.throughput.value:g} {reading.unit}")
    return f": {', '.join(found)}" if found else ""


def summary(analysis: Analysis) -> str:
    """Return what matters most of a log, in one sentence: the verdict, else the worst of a node's log, else how far it came."""
    if analysis.signs is not None:
        return _signs(analysis.signs)[0].text
    if analysis.failure is not None:
        return verdict(analysis.failure)
    return analysis.illegible or f"no failure seen; {_progress(analysis.metric)}"


def _signs(signs: Sequence[Sign]) -> list[Part]:
    """Return the rows for a node's log, the worst first."""
    rows: list[Part] = [] if signs else [Row("node", "no known sign of a fault")]
    for sign in sorted(signs, key=lambda each: list(Severity).index(each.first.severity))[:_SIGNS]:
        one, often = sign.first, f", {sign.times} times, until line {sign.last_line}" if sign.times > 1 else ""
        whose = f", job {', '.join(one.jobs)}" if one.jobs else ""
        rows.append(
            Row(
                one.severity, f"{one.signature} ({one.component}{f' {one.device}' if one.device else ''}{whose}){often}"
            )
        )
        rows.append(Quote(one.place.line, one.place.text))
    return [*rows, Row("", f"and {counted(len(signs) - _SIGNS, 'more sort')}")] if len(signs) > _SIGNS else rows


def verdict(failure: Failure) -> str:
    """Return the verdict in one sentence, the short meaning first; the lines that it rests on are not in it."""
    kind = str(failure.error_type).replace("_", " ")
    where = f" ({failure.faulty_component})" if failure.faulty_component != "none" else ""
    root = failure.root
    if failure.signature in _TIME_LIMITS:
        place = f"line {root.line}, " if root else ""
        return f"Killed by the time limit. {_MORE_TIME.capitalize()}. ({place}confidence {failure.confidence:.2f})"
    line = f"line {root.line}" if root else "no line explains it"
    cause = failure.signature.replace("_", " ")
    message = "" if root and failure.message in root.text else f": {failure.message}"
    return (
        f"{kind}{where}{f', {cause}' if cause else ''}, {line}{message}; {outlook(failure.signature, failure.restartable)} "
        f"(confidence {failure.confidence:.2f})"
    )


def outlook(signature: str, restartable: bool | None) -> str:
    """Return whether a restart helps after a failure, or what helps instead, as a clause."""
    return _MORE_TIME if signature in _TIME_LIMITS else _OUTLOOK[restartable]


def model_opinion(answer: ModelAnswer) -> str:
    """Return a language model's answer about a failure, in one line."""
    given = answer.failure
    if given is None:
        return ""
    where = f" ({given.faulty_component})" if given.faulty_component != "none" else ""
    lines = ", ".join(str(each.line) for each in answer.lines)
    kind = "no failure" if not given.failed else str(given.error_type).replace("_", " ")
    return (
        f"{answer.model}: {kind}{where}, {given.certainty} confidence, from {f'lines {lines}' if lines else 'no line'}"
    )


def seconds(value: float) -> str:
    """Return a duration in the unit that a person would choose."""
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.4g} s"


def rate(value: float) -> str:
    """Return a throughput as a person writes it: no powers of ten."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def loss_text(loss: float | None, loss_step: int | None, step: int | None, *, not_finite: bool) -> str:
    """Return a loss in words: `loss 1.2`, `loss 1.2 at step 40` for an earlier step than `step`, or `loss NaN since step 40`."""
    if loss is None:
        since = "" if loss_step is None else f" since step {loss_step}"
        return f"loss NaN{since}" if not_finite else ""
    at = f" at step {loss_step}" if loss_step is not None and loss_step != step else ""
    return f"loss {loss:.4g}{at}"


def _progress(metric: JobMetric | None) -> str:
    if metric is None:
        return f"unknown: {NO_REPORT}"
    counters = {"step": metric.step, "epoch": metric.epoch}
    values = [
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in counters.items()
        if value is not None
    ]
    loss = loss_text(metric.loss, metric.loss_step, metric.step, not_finite=metric.loss_not_finite)
    return ", ".join([*values, *([loss] if loss else [])]) or "unknown: no line contains a step"


def _speed(metric: JobMetric | None, readings: Sequence[StepTimeCandidate]) -> str:
    if metric is None:
        return f"unknown: {NO_REPORT}"
    if metric.step_time_s is None and metric.throughput is None:
        return f"unknown: {_why_unknown(metric, readings)}"
    parts = []
    if metric.step_time_s is not None:
        parts.append(f"{seconds(metric.step_time_s)} a step")
    if metric.throughput is not None:
        parts.append(f"{rate(metric.throughput)} {metric.throughput_unit or ''}".strip())
    how = [METHODS.get(metric.method, metric.method)] if metric.method != "unknown" else []
    how += [f"median of {counted(metric.reports, 'report')}"] if metric.reports else []
    return f"{', '.join(parts)} ({', '.join(how)})" if how else ", ".join(parts)


def _why_unknown(metric: JobMetric, readings: Sequence[StepTimeCandidate]) -> str:
    """Return in one clause why no speed is given."""
    if readings:
        return f"{readings[0].what} was read and rejected: {readings[0].why}"
    return "only one report, without an earlier one to compare it with" if metric.reports == 1 else NO_CLOCK


def _how(analysis: Analysis) -> list[Part]:
    """Return how the step time was obtained, and which templates were taken as progress."""
    rows: list[Part] = []
    if analysis.metric is not None and analysis.metric.step_time_s is not None:
        best, reading = analysis.readings[0] if analysis.readings else None, analysis.format_reading
        by_format = reading is not None and reading.step_time is not None
        without = (
            "the format states it" if by_format else "the times at which events report the beginning and end of steps"
        )
        rows.append(Row("how", f"{best.what}: {best.why}" if best else without))
    total = sum(analysis.templates.values())
    for place, (template, count) in enumerate(analysis.templates.most_common(_TEMPLATES)):
        rows.append(Row("" if place else "reports", f"{count} of {total} read: {template}"))
    if rows and analysis.lines > SHIPPED.pieces:
        rows.append(Row("", f"Only the latest progress lines of each {SHIPPED.pieces} were used."))
    return rows


def _curves(analysis: Analysis) -> list[Part]:
    """Draw step time (its range) and loss (first to last) over the reports; no curve of fewer than five."""
    rows: list[Part] = []
    times = [point.seconds for point in analysis.points if point.seconds is not None]
    losses = [(point.loss, point.line) for point in analysis.points if point.loss is not None]
    if curve := sparkline(times):
        rows.append(Row("step time", f"{curve}  {seconds(min(times))} to {seconds(max(times))}"))
    if len(losses) > 1:
        curve = sparkline([loss for loss, _ in losses])
        (first, begin), (last, end) = losses[0], losses[-1]
        rows.append(
            Row("loss", f"{f'{curve}  ' if curve else ''}{first:.4g} → {last:.4g} (lines {begin:,} to {end:,})")
        )
    return rows


def _ranks(ranks: OverRanks | None) -> list[Part]:
    if ranks is None:
        return []
    slowest = f"rank {ranks.slowest} is the slowest, {ranks.lag:.2f} times the median"
    return [Row("ranks", f"{ranks.ranks}: {seconds(ranks.step_time_s)} a step, spread {ranks.spread:.0%}; {slowest}")]


def _saved(checkpoint: Checkpoint | None) -> list[Part]:
    """Show where the job could go on, with the line that shows that it is durable."""
    if checkpoint is None:
        return []
    step = f"step {checkpoint.step}" if checkpoint.step is not None else "an unknown step"
    where = f", {checkpoint.path}" if checkpoint.path else ""
    shown = [Quote(each.line, each.text) for each in checkpoint.evidence[-1:]]
    return [Row("saved", f"{step}{where}"), *shown]


def _alarms(alarms: Sequence[Alarm]) -> list[Part]:
    """Show what went wrong on the way, each with the line that shows it."""
    rows: list[Part] = []
    for place, alarm in enumerate(alarms[:_ALARMS]):
        rows.append(Row("" if place else "alarms", alarm.detail))
        rows += [Quote(each.line, each.text) for each in alarm.evidence[:1]]
    if len(alarms) > _ALARMS:
        rows.append(Row("", f"and {len(alarms) - _ALARMS} more"))
    return rows


def _explained(analysis: Analysis) -> list[Part]:
    """List what was weighed, with scores: readings of the step time, numbers that may be the step or the loss, what events count."""
    rows: list[Part] = []
    for place, reading in enumerate(analysis.readings):
        given = " (given)" if not place and reading.score >= THRESHOLD else ""
        text = (
            f"{seconds(reading.seconds)} from {reading.what}, score {max(reading.score, 0.0):.2f}{given}: {reading.why}"
        )
        rows.append(Row("" if place else "readings", text))
    metric = analysis.metric
    lacking = (
        "no time is printed with a step; the rate is printed" if metric and metric.throughput is not None else NO_CLOCK
    )
    rows = rows or [Row("readings", f"none: {lacking}")]
    return [*rows, *_columns(analysis), *_events(analysis)]


def _columns(analysis: Analysis) -> Iterator[Part]:
    """List the numbers that may be the step or the loss."""
    for place, each in enumerate(analysis.columns):
        named = f"`{each.name}`" if each.name else "a number without a name"
        likely = " (likely enough)" if each.likely else ""
        text = f"{named} may be the {each.role}, now {each.value:g}, log odds {each.score:.1f}{likely}"
        yield Row("" if place else "columns", text)


def _events(analysis: Analysis) -> Iterator[Part]:
    """Yield what the events of a structured log count, what agrees with that, and what came next."""
    for solution in analysis.solutions:
        for place, each in enumerate(filter(None, (solution.best, solution.other))):
            why = f": {'; '.join(each.agreements)}" if each.agreements else ""
            text = f"`{each.counter}` counts {each.role}s, score {each.score:.2f}{'' if place else ' (given)'}{why}"
            yield Row("" if place else "events", text)
