"""The rules' reading and the format's reading as candidates for each number of a metric: what agrees is sure, else the checks decide."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from math import isclose

import msgspec

from schedmate_records import ColumnRole, JobMetric

from ..formats.checks import Standing
from ..formats.reading import Claim, FormatReading
from ..grammar.names import PART_RANK, Meaning, loss_rank
from ..read.roles import Role
from ..read.roles import counted as counted_by_name
from .reports import Report

METHOD_MODEL = "model"
"""Method of a speed that a model's format states and the rules do not. It leads to no action."""
METHOD_PERSON = "stated"
_TOLERANCE = 0.02
"""Relative difference within which two step times are equal: logs print few digits."""
_SURE = 0.97
"""Confidence of a speed on which the rules and the format agree."""
_RULES_ARE_SURE = 0.9
"""Confidence from which the rules' speed was stated and agreed with a clock."""
_CONFIDENCE = {Standing.CONFIRMED: 0.85, Standing.PLAUSIBLE: 0.7, Standing.UNTESTED: 0.6}
_RULES_KNOW = 0.6
"""Confidence from which a step time of the rules tests what a counter counts."""
_SAME_PACE = (0.4, 2.5)
"""Pace of a counter over the step time of the rules within which both are of the same steps: pauses lengthen the pace."""
_LEAST_REPORTS = 3
"""Reports of the rules that show a training, whatever a model states."""


class Choice(Enum):
    """Which candidate a number is taken from."""

    RULES = auto()
    FORMAT = auto()
    BOTH = auto()


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers of the rules and the evidence for them.

    Attributes:
        metric: Their numbers.
        window: The reports that these rest on, oldest first.
    """

    metric: JobMetric
    window: Sequence[Report]

    @property
    def step_is_named(self) -> bool:
        """Whether the name before the step is that of a step."""
        return bool(self.window) and counted_by_name(self.window[-1].step_name) is Role.STEP

    @property
    def loss_rank(self) -> int:
        """Rank of the best name of a loss; 99 where no report names one."""
        return min((report.loss_rank for report in self.window), default=99)

    @property
    def trains(self) -> bool:
        """Whether reports show a training: a loss, or a speed that several reports or one of a training state."""
        named = any("train" in report.text.lower() for report in self.window)
        return self.metric.loss is not None or (self.has_speed and (named or self.metric.reports >= _LEAST_REPORTS))

    def counts_otherwise(self, reading: FormatReading) -> bool:
        """Return whether a counter moves at another pace than the steps whose time the rules know: it counts samples, for example."""
        seconds = self.metric.step_time_s
        if seconds is None or reading.pace is None or self.metric.confidence < _RULES_KNOW:
            return False
        return not _SAME_PACE[0] <= reading.pace / seconds <= _SAME_PACE[1]

    def outdate_step(self, claim: Claim, reading: FormatReading) -> bool:
        """Return whether several reports of a step follow where the column of a claim has stopped. A single one may be a summary."""
        return self._newer(claim, reading, [report for report in self.window if report.step is not None])

    def outdate_loss(self, claim: Claim, reading: FormatReading) -> bool:
        """Return whether several reports of a loss follow where the column of a claim has stopped. A single one may be a summary."""
        return self._newer(claim, reading, [report for report in self.window if report.has_loss])

    @staticmethod
    def _newer(claim: Claim, reading: FormatReading, reports: Sequence[Report]) -> bool:
        """Return whether several of `reports` are newer than a claim and than the newest report of an evaluation."""
        return sum(report.line > max(claim.until, reading.evaluated) for report in reports) >= _LEAST_REPORTS

    @property
    def has_speed(self) -> bool:
        """Whether they read a step time or a throughput."""
        return self.metric.step_time_s is not None or self.metric.throughput is not None


def combine(metric: JobMetric, window: Sequence[Report], reading: FormatReading) -> JobMetric:
    """Return `metric`, which the rules read, with what the format reads where that is likelier.

    Args:
        metric: What the rules read.
        window: The reports that it rests on.
        reading: What the format reads.
    """
    rules = Rules(metric, window)
    if not reading.trains:
        return metric if rules.trains and not reading.by_person else _without_numbers(metric)
    if not reading.credible:
        return metric
    reading = _without_unproven(reading)
    metric = _with_step(metric, rules, reading)
    metric = _with_loss(metric, rules, reading)
    return _with_speed(metric, rules, reading)


def _without_unproven(reading: FormatReading) -> FormatReading:
    """Return `reading` without the numbers that neither a known name nor the rest of the format supports."""
    if reading.proven:
        return reading
    time, rate = reading.step_time, reading.throughput
    return replace(
        reading,
        values={role: claim for role, claim in reading.values.items() if claim.named},
        step_time=time if time and time.named else None,
        throughput=rate if rate and rate.named else None,
    )


def _without_numbers(metric: JobMetric) -> JobMetric:
    """Return `metric` without any number: the log reports no training."""
    nothing = dict.fromkeys(
        ("step", "step_total", "epoch", "epoch_total", "left_s", "step_time_s", "throughput", "throughput_unit", "loss", "loss_step",
         "since_step")
    )  # fmt: skip
    return msgspec.structs.replace(
        metric, step_name="", loss_not_finite=False, method="unknown", confidence=0.0, over_ranks=None, **nothing
    )


def choose_step(rules: Rules, claim: Claim, *, by_person: bool, is_outdated: bool = False) -> Choice:
    """Return where the step is taken from. A name that the rules know supports a column; the format decides between two such."""
    step = rules.metric.step
    if step == claim.value:
        return Choice.BOTH
    if by_person:
        return Choice.FORMAT
    if is_outdated:
        return Choice.RULES
    if step is None:
        return Choice.FORMAT
    if claim.standing is not Standing.PLAUSIBLE:
        return Choice.RULES
    return Choice.FORMAT if claim.named or not rules.step_is_named else Choice.RULES


def _with_step(metric: JobMetric, rules: Rules, reading: FormatReading) -> JobMetric:
    claim, totals = reading.step, reading.values
    changes: dict[str, object] = {}
    if claim is not None and (
        choose_step(
            rules,
            claim,
            by_person=reading.by_person,
            is_outdated=rules.outdate_step(claim, reading) or rules.counts_otherwise(reading),
        )
        is Choice.FORMAT
    ):
        of_run = ColumnRole.STEP in totals
        total = totals.get(ColumnRole.STEP_TOTAL if of_run else ColumnRole.EPOCH_STEP_TOTAL)
        changes = {
            "step": int(claim.value),
            "step_name": claim.column.name[:32] if claim.column else "",
            "step_total": int(total.value) if total and total.value >= claim.value else None,
            "since_step": None,
        }
    if epoch := totals.get(ColumnRole.EPOCH):
        changes["epoch"] = epoch.value if metric.epoch is None or reading.by_person else metric.epoch
    elif metric.epoch is not None and any(value == metric.epoch for _, value in reading.newest):
        changes |= {"epoch": None, "epoch_total": None}  # a number has one role
    if metric.epoch_total is None and (end := totals.get(ColumnRole.EPOCH_TOTAL)):
        changes["epoch_total"] = int(end.value)
    return msgspec.structs.replace(metric, **changes) if changes else metric


def choose_loss(rules: Rules, claim: Claim, *, by_person: bool, is_outdated: bool = False) -> Choice:
    """Return where the loss is taken from. Against a loss that a good name states, the format needs a name that is as good."""
    loss = rules.metric.loss
    if loss is not None and isclose(loss, claim.value, rel_tol=1e-4):
        return Choice.BOTH
    if by_person:
        return Choice.FORMAT
    if loss is not None and is_outdated:
        return Choice.RULES
    rank = loss_rank(claim.column.name) if claim.column and claim.column.name else 99
    if loss is None:
        return Choice.RULES if rules.metric.loss_not_finite else Choice.FORMAT
    if claim.named and rank <= min(rules.loss_rank, PART_RANK - 1):
        return Choice.FORMAT
    return Choice.FORMAT if rules.loss_rank >= PART_RANK and (claim.named or rank == 99) else Choice.RULES


def _with_loss(metric: JobMetric, rules: Rules, reading: FormatReading) -> JobMetric:
    claim = reading.values.get(ColumnRole.LOSS)
    if claim is None:
        return metric
    is_outdated = rules.outdate_loss(claim, reading)
    if choose_loss(rules, claim, by_person=reading.by_person, is_outdated=is_outdated) is not Choice.FORMAT:
        return metric
    return msgspec.structs.replace(metric, loss=claim.value, loss_not_finite=False, loss_step=None)


def choose_step_time(rules: Rules, claim: Claim, *, by_person: bool) -> Choice:
    """Return where the step time is taken from: where both differ, a clock decides, then the confidence of the rules."""
    seconds = rules.metric.step_time_s
    if seconds is not None and isclose(seconds, claim.value, rel_tol=_TOLERANCE):
        return Choice.BOTH
    if by_person or not rules.has_speed:
        return Choice.FORMAT
    if seconds is None:
        rule = claim.column.rule if claim.column else None
        stated = rule is not None and rule.meaning is Meaning.STEP_TIME
        confirmed = claim.standing is Standing.CONFIRMED and claim.named
        return Choice.FORMAT if stated or confirmed else Choice.RULES
    if claim.standing is Standing.CONFIRMED and claim.column is not None:
        clocked = rules.metric.method in ("timestamps", "arrival")
        return Choice.FORMAT if clocked or rules.metric.confidence < _RULES_ARE_SURE else Choice.RULES
    return Choice.RULES


def _with_speed(metric: JobMetric, rules: Rules, reading: FormatReading) -> JobMetric:
    time, rate = reading.step_time, reading.throughput
    changes: dict[str, object] = {}
    if time is not None:
        choice = choose_step_time(rules, time, by_person=reading.by_person)
        if choice is Choice.BOTH:
            changes["confidence"] = max(metric.confidence, _SURE if time.standing is Standing.CONFIRMED else 0.9)
        elif choice is Choice.FORMAT:
            method = METHOD_PERSON if reading.by_person else METHOD_MODEL
            changes |= {"step_time_s": time.value, "method": method, "confidence": _CONFIDENCE[time.standing]}
    if rate is not None and _takes_rate(rules, rate, reading):
        changes |= {"throughput": rate.value, "throughput_unit": reading.unit}
        changes.setdefault("confidence", max(metric.confidence, _CONFIDENCE[rate.standing]))
    return msgspec.structs.replace(metric, **changes) if changes else metric


def _takes_rate(rules: Rules, claim: Claim, reading: FormatReading) -> bool:
    """Return whether the throughput is taken from the format: nothing in a log confirms a rate, so the rules' own comes first."""
    return reading.by_person or (rules.metric.throughput is None and claim.named)
