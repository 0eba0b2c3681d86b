"""What the numbers of a line mean, and what lines of one print statement have in common."""

from dataclasses import dataclass

from .names import Meaning


@dataclass(frozen=True, slots=True)
class Slot:
    """Number `index` of a line and what it means: its value times `scale` is in seconds or in `unit`."""

    index: int
    meaning: Meaning
    name: str
    scale: float = 1.0
    unit: str = ""
    per: int = -1
    """Number of the line that this one is divided by: `12.5 sec per 100 iters`; -1 for none."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the numbers of a template mean.

    Attributes:
        slots: One for each number with a known meaning.
        bar: A progress bar: an unnamed counter `k/N` with a rate or an elapsed time.
        shape: Checksum of the template, blanks and the drawing of a bar left out: a bar that grows stays the same report.
        scope: The text before the first field: `Epoch`, `Validation`.
        evaluated: It holds results of an evaluation too.
    """

    slots: tuple[Slot, ...]
    bar: bool = False
    shape: int = 0
    scope: str = ""
    evaluated: bool = False

    def has(self, *meanings: Meaning) -> bool:
        """Return whether any slot has one of `meanings`."""
        return any(slot.meaning in meanings for slot in self.slots)
