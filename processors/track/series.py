"""Step time and loss by report, for plots."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..grammar.numbers import NUMBER
from ..grammar.prefix import strip_prefix
from ..grammar.stamps import difference
from .reports import Report
from .step_time_candidates import StepTimeCandidate

_LONGEST = 100
"""Characters of a template for a person."""


@dataclass(frozen=True, slots=True)
class Point:
    """One report: its training step, seconds per step, and loss; None where it holds none."""

    line: int
    step: int | None
    seconds: float | None
    loss: float | None


def points(window: Sequence[Report], best: StepTimeCandidate | None) -> list[Point]:
    """Return a point for each report. Where no time is printed, it is the time since the report before, by step."""
    apart = {id(later): _seconds_per_step(earlier, later) for earlier, later in pairwise(window)}
    clocked = best is not None and best.method in ("timestamps", "arrival")
    found = []
    for report in window:
        seconds = (
            best.in_report(report) if best is not None and not clocked else apart.get(id(report)) if clocked else None
        )
        found.append(Point(report.line, report.step, seconds, report.loss))
    return found


def _seconds_per_step(earlier: Report, later: Report) -> float | None:
    if earlier.step is None or later.step is None or later.step <= earlier.step or earlier.shape != later.shape:
        return None
    stamped = earlier.stamp is not None and later.stamp is not None
    passed = difference(earlier.stamp or 0.0, later.stamp or 0.0) if stamped else later.time - earlier.time
    return passed / (later.step - earlier.step) if passed > 0 else None


def template_of(report: Report) -> str:
    """Return the text of a report's newest line with its numbers left out."""
    return NUMBER.sub("{}", strip_prefix(report.text).body.strip())[:_LONGEST]
