"""One way to read seconds per step, and how it stands to a clock."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from .pace import ObservedStepTime
from .reports import Report

CLOSE = (0.8, 1.2)
"""Stated over clock: agreement."""

_AGREES = (0.5, 1.35)
"""Stated over clock: work outside steps (evaluation, checkpoints) makes the clock's time longer, hardly ever shorter."""

_STEADY = 0.3
"""Spread below which a clock is steady enough to contradict."""

ENOUGH = 3
"""Differences that a clock must rest on before it is listened to."""

NEAR = 0.05
"""Mean of two differences over their median: they are alike. (The median of two that are not is their mean, weighted otherwise.)"""

_MANY = 8
"""Differences from which a steady clock is better than the smoothed rate of a bar that it is only near to."""


class StepTimeCandidate(msgspec.Struct, frozen=True):
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


def reference(paces: Sequence[ObservedStepTime]) -> ObservedStepTime | None:
    """Return the clock that the others are held against: the first that rests on enough, or on two differences that are alike."""
    found = next((pace for pace in paces if pace.count >= ENOUGH), None)
    return found or next((pace for pace in paces if pace.count == ENOUGH - 1 and _alike(pace)), None)


def _alike(pace: ObservedStepTime) -> bool:
    return pace.method == "timestamps" and not pace.coarse and abs(pace.mean / pace.seconds - 1) < NEAR


def against(
    reading: StepTimeCandidate, clock: ObservedStepTime | None, interval: bool, mean: float | None = None
) -> StepTimeCandidate:
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
        return scored(reading, min(1.0, reading.score + 0.3), f"agrees with the {source} within {apart}")
    if _AGREES[0] <= ratio <= _AGREES[1]:
        smoothed = reading.method == "rate" and clock.unsteady <= _STEADY and clock.count >= _MANY
        return scored(
            reading, reading.score + (-0.3 if smoothed else 0.05), f"near the {source}: {ratio:.0%} of their time"
        )
    per_step = ratio / clock.stride
    if interval and clock.stride > 1 and _AGREES[0] <= per_step <= _AGREES[1]:
        bonus = 0.25 if CLOSE[0] <= per_step <= CLOSE[1] else 0.05
        spread_over = StepTimeCandidate(
            f"{reading.what} over {clock.stride:g} steps",
            reading.method,
            reading.seconds / clock.stride,
            0,
            "",
            key=reading.key,
            stride=clock.stride,
        )
        return scored(spread_over, reading.score + bonus, f"agrees with the {source} as the time of an interval")
    why = f"contradicts the {source}: {ratio:.3g} times their time"
    if ratio > _AGREES[1]:
        slow = (
            clock.method == "arrival" and ratio > 3 and clock.unsteady > _STEADY
        )  # lines that were held back, or replayed
        return scored(reading, reading.score * (0.8 if slow else 0.2), why, agrees=False)
    return scored(
        reading, reading.score - (0.6 if clock.unsteady <= _STEADY and ratio < 0.2 else 0.1), why, agrees=False
    )


def scored(reading: StepTimeCandidate, score: float, why: str, agrees: bool = True) -> StepTimeCandidate:
    """Return `reading` with another score, and why."""
    return replace(reading, score=score, why=why, agrees=agrees)
