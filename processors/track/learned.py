"""What reports say of speed where grammar leaves it open and a language model explained their template.

A model's word is not enough: numbers are given once the clock confirms them (`template_reading.check`), and only where the tracker
gives none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from schedmate_records import Evidence, JobMetric, ModelAnswer, Position, derived_id

from ..classified_chunk import ClassifiedChunk
from ..read.solver import solve
from .of_columns import is_open
from .pace import paces
from .reports import Report
from .state import LINES, Followed, TrackState
from .step_time_candidate import reference
from .step_time_candidates import THRESHOLD, of_model
from .summary import summarise
from .template_reading.check import Confirmed, Template, confirmed
from .template_reading.prompt import texts_of

TEMPLATES = 3
"""Templates that are remembered of a job."""
METHOD = "model"
_SURE = 0.6
"""Confidence of these numbers when the clock agrees all the time."""


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest line of a template that is followed: where it stands, who printed it and when."""

    followed: Followed
    job: str
    attempt: int
    node: str
    rank: int
    position: Position
    time: float
    line: Evidence


def remember(answer: ModelAnswer, known: Sequence[Template]) -> list[Template]:
    """Return the templates known with the one that `answer` explains, unless it explains nothing of interest."""
    texts = texts_of(answer.samples[0].line.text) if answer.samples else ()
    new = Template(answer.about, texts, tuple(answer.numbers))
    if not new.fields or any(each.key == new.key for each in known):
        return list(known)
    return [*known, new][-TEMPLATES:]


def follow(view: ClassifiedChunk, templates: Sequence[Template], followed: list[Followed]) -> Newest | None:
    """Take in the lines of a chunk; return the newest of a template that is followed, or None where there is none."""
    newest = None
    for template in templates:
        state = _of(template, followed)
        mark = max(template.texts, key=len)
        places: list[int] = []
        for place in range(len(view.lines) - 1, -1, -1):
            if len(places) == LINES:
                break
            if mark in view.lines[place] and texts_of(view.lines[place]) == template.texts:
                places.append(place)
        for place in reversed(places):
            state.add(template, view.lines[place], view.numbers[place], view.position.offset, view.times[place])
        if places:
            newest = Newest(
                state, view.job, view.attempt, view.node, view.rank, view.position, view.times[places[0]], view.evidence(places[0])
            )  # fmt: skip
    return newest


def recall(answer: ModelAnswer, position: Position, template: Template, followed: list[Followed]) -> Newest | None:
    """Take in the lines that a model was shown; return the newest, or None where lines of the template came since."""
    state = _of(template, followed)
    if state.points or not answer.samples:
        return None
    for sample in answer.samples:
        if texts_of(sample.line.text) == template.texts:
            state.add(template, sample.line.text, sample.line.line, sample.line.offset, sample.time)
    last = answer.samples[-1]
    return Newest(
        state, answer.job, answer.attempt, answer.node, answer.rank, position, last.time, last.line
    )  # fmt: skip


def completed(metric: JobMetric | None, newest: Newest | None, state: TrackState) -> JobMetric | None:
    """Return `metric` with the speed that a followed template tells; as it is where it has one, or the clock does not confirm it.

    Args:
        metric: What the tracker says of a chunk; None where it holds no report.
        newest: The newest line of the chunk that is of a followed template; None without one.
        state: What the tracker remembers of the stream.
    """
    if newest is None or (metric is not None and not is_open(metric)) or not tells_no_speed(state):
        return metric
    known = confirmed(newest.followed.points)
    if known is None or not _holds(known, state.window):
        return metric
    if metric is None:
        metric = _reported(newest, state)
    return msgspec.structs.replace(
        metric,
        step=known.step if metric.step is None else metric.step,
        step_time_s=known.step_time_s,
        loss=known.loss if metric.loss is None and not metric.loss_not_finite else metric.loss,
        method=METHOD,
        confidence=max(metric.confidence, round(_SURE * known.share, 3)),
    )


def tells_no_speed(state: TrackState) -> bool:
    """Return whether neither the columns, nor the reports, nor the events of a stream tell a speed."""
    if state.kept.step is not None:
        return False
    if state.window and not is_open(summarise(state.window)):
        return False
    solution = solve(state.events)
    return solution is None or (solution.best.step_time_s is None and solution.best.samples_per_s is None)


def _reported(newest: Newest, state: TrackState) -> JobMetric:
    """Return what is known beside the speed, for a chunk without a report that grammar reads."""
    summary = summarise(state.window) if state.window else None
    return JobMetric(
        id=derived_id("metric", newest.job, newest.position, newest.line.line),
        job=newest.job,
        attempt=newest.attempt,
        node=newest.node,
        rank=newest.rank,
        time=newest.time,
        step=summary.step if summary else None,
        epoch=summary.epoch if summary else None,
        loss=state.loss,
        loss_not_finite=state.loss_not_finite,
        reports=len(newest.followed.points),
        evidence=[newest.line],
    )


def _holds(known: Confirmed, window: Sequence[Report]) -> bool:
    """Return whether the reading holds beside the reports that grammar reads: it is weighed as theirs are."""
    return of_model(known.step_time_s, known.share, reference(paces(window))).score >= THRESHOLD


def _of(template: Template, followed: list[Followed]) -> Followed:
    for each in followed:
        if each.key == template.key:
            return each
    followed.append(Followed(template.key))
    del followed[:-TEMPLATES]
    return followed[-1]
