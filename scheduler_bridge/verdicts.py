"""The newest verdict on each attempt, as far as later decisions depend on it."""

from collections import OrderedDict
from typing import NamedTuple

from schedmate_records import Failure


class Verdict(NamedTuple):
    """State of a verdict.

    Attributes:
        revision: Its revision.
        cause: What counts as one root cause.
        told: A line shows it. A lost node is reported by a scheduler, without a line.
        step: Training step that the attempt had reached; None where not known.
        epoch: The epoch that goes with the step.
    """

    revision: int
    cause: str
    told: bool
    step: int | None
    epoch: float | None


def cause_of(failure: Failure) -> str:
    """Return what counts as one root cause for budgets."""
    # A cause is a name of the catalogue, or of an exception: cut to 200 characters.
    return (failure.signature or failure.faulty_component.value)[:200]


class Verdicts:
    """By attempt. Order and repeats do not matter."""

    def __init__(self) -> None:
        self._newest: OrderedDict[tuple[str, str, int], Verdict] = OrderedDict()

    def remember(self, failure: Failure) -> bool:
        """Take in a verdict; return False for a revision older than one that was seen already."""
        attempt = (failure.job, failure.incarnation, failure.attempt)
        known = self._newest.get(attempt)
        if known and failure.revision < known.revision:
            return False
        told = failure.root is not None
        self._newest[attempt] = Verdict(failure.revision, cause_of(failure), told, failure.step, failure.epoch)
        self._newest.move_to_end(attempt)
        # 10,000 attempts are kept; the oldest have ended long ago.
        if len(self._newest) > 10_000:
            self._newest.popitem(last=False)
        return True

    def newest(self, job: str, attempt: int, incarnation: str = "") -> Verdict | None:
        """Return the newest verdict on an attempt; None where none is known."""
        return self._newest.get((job, incarnation, attempt))
