"""One way to read seconds per step, and how it compares with a clock."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from .pace import REMAINING, ObservedStepTime
from .reports import Report

ENOUGH = 3
"""Differences that a clock must rest on before it decides."""
_STEADY = 0.3
"""Spread below which a clock is steady enough to contradict."""


class StepTimeCandidate(msgspec.Struct, frozen=True):
    """One way to read seconds per step off the reports.

    Attributes:
        what: The field and how it is read, for a person.
        method: As in `records.JobMetric`.
        seconds: Per step.
        score: Probability that it is right, 0 to 1.
        why: Reason for the score.
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

    def in_report(self, report: Report) -> float | None:
        """Return seconds per step as `report` alone states them; None where it does not."""
        if self.key:
            return report.times[self.key] / self.stride if self.key in report.times else None
        return 1 / report.step_rate if self.method == "rate" and report.step_rate else None


def is_close(ratio: float) -> bool:
    """Return whether two times of this ratio agree."""
    return 0.8 <= ratio <= 1.2


def _is_near(ratio: float) -> bool:
    """Return whether a stated time may agree with a clock, which includes work outside steps (evaluations, checkpoints)."""
    return 0.5 <= ratio <= 1.35


def reference(paces: Sequence[ObservedStepTime]) -> ObservedStepTime | None:
    """Return the clock that candidates are compared with: the first with enough differences, or with two equal ones."""
    paces = [pace for pace in paces if pace.name != REMAINING]  # an estimate of the program
    found = next((pace for pace in paces if pace.count >= ENOUGH), None)
    return found or next((pace for pace in paces if pace.count == ENOUGH - 1 and _are_equal(pace)), None)


def _are_equal(pace: ObservedStepTime) -> bool:
    return pace.method == "timestamps" and not pace.coarse and abs(pace.mean / pace.seconds - 1) < 0.05


def compare(
    candidate: StepTimeCandidate, clock: ObservedStepTime | None, *, interval: bool, mean: float | None = None
) -> StepTimeCandidate:
    """Return `candidate` with its score after the comparison with a clock.

    Args:
        candidate: The candidate.
        clock: The clock; None where there is none.
        interval: It may be the time of all steps since the report before.
        mean: Mean of its values. Where the clock has pauses or ticks slowly, means agree and medians do not.
    """
    if clock is None:
        return candidate
    steady = clock.unsteady <= _STEADY
    source = "arrival of lines" if clock.method == "arrival" else "printed timestamps"
    ratio = candidate.seconds / clock.seconds
    if clock.method == "arrival" and is_close(candidate.seconds / clock.mean):
        ratio = candidate.seconds / clock.mean
    if mean is not None and (clock.coarse or not steady) and is_close(mean / clock.mean):
        ratio = mean / clock.mean
    if is_close(ratio):
        return scored(
            candidate, min(1.0, candidate.score + 0.3), f"agrees with the {source} within {abs(ratio - 1):.0%}"
        )
    if _is_near(ratio):
        # Over eight differences a steady clock is better than the smoothed rate of a bar.
        smoothed = candidate.method == "rate" and steady and clock.count >= 8
        return scored(
            candidate, candidate.score + (-0.3 if smoothed else 0.05), f"near the {source}: {ratio:.0%} of their time"
        )
    per_step = ratio / clock.stride
    if interval and clock.stride > 1 and _is_near(per_step):
        spread = replace(
            candidate,
            what=f"{candidate.what} over {clock.stride:g} steps",
            seconds=candidate.seconds / clock.stride,
            stride=clock.stride,
        )
        bonus = 0.25 if is_close(per_step) else 0.05
        return scored(spread, candidate.score + bonus, f"agrees with the {source} as the time of an interval")
    why = f"contradicts the {source}: {ratio:.3g} times their time"
    if ratio > 1:
        held_back = clock.method == "arrival" and ratio > 3 and not steady  # lines arrived late, or were replayed
        return scored(candidate, candidate.score * (0.8 if held_back else 0.2), why, agrees=False)
    return scored(candidate, candidate.score - (0.6 if steady and ratio < 0.2 else 0.1), why, agrees=False)


def scored(candidate: StepTimeCandidate, score: float, why: str, *, agrees: bool = True) -> StepTimeCandidate:
    """Return `candidate` with another score and its reason."""
    return replace(candidate, score=score, why=why, agrees=agrees)
