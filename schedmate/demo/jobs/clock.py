"""A job's own clock: when each step ended and how long it took, for the comparison at the end of the demo.

Nothing of SchedMate reads these files while it measures: it has the jobs' logs alone.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

VARIABLE = "DEMO_CLOCK"
"""Names the file, without the ending `.ATTEMPT.RANK`."""


class StepClock:
    """Writes a line at the end of each step: its number, seconds since 1970, and seconds since the step before ended."""

    def __init__(self) -> None:
        name = f"{os.environ[VARIABLE]}.{os.environ['LOCAL_RESTART_COUNT']}.{os.environ['RANK']}"
        self._file = Path(name).open("w", buffering=1)  # noqa: SIM115 - open as long as the process lives
        self.last = time.monotonic()

    def tick(self, step: int) -> float:
        """Note the end of a step and return its seconds."""
        now = time.monotonic()
        seconds, self.last = now - self.last, now
        self._file.write(f"{step} {time.time():.6f} {seconds:.6f}\n")
        return seconds


class Step(NamedTuple):
    """One step: its number, when it ended, what it took."""

    number: int
    ended: float
    seconds: float


class Typical(NamedTuple):
    """Seconds of a typical step, and how far steps usually are from it: the median, and the median deviation as that of a normal noise."""

    seconds: float
    spread: float


@dataclass(frozen=True)
class Clocked:
    """What one rank of one attempt clocked."""

    steps: tuple[Step, ...] = ()

    def numbered(self, first: int, last: int, parts: int) -> Typical | None:
        """Return the typical step from number `first` to `last`; None where there are none."""
        return _typical([step.seconds for step in self.steps if first <= step.number <= last], parts)

    def between(self, start: float, end: float, parts: int) -> Typical | None:
        """Return the typical step of those that ended after `start` and not after `end`; None where there are none."""
        return _typical([step.seconds for step in self.steps if start < step.ended <= end], parts)


def _typical(seconds: list[float], parts: int) -> Typical | None:
    """Return the means of as many equal parts as there were reports: a report covers all steps since the last one."""
    if not seconds:
        return None
    size = max(1, round(len(seconds) / max(1, parts)))
    means = [mean(seconds[at : at + size]) for at in range(0, len(seconds), size)]
    middle = median(means)
    return Typical(middle, 1.4826 * median(abs(each - middle) for each in means))


def read(file: Path, attempt: int, rank: int) -> Clocked:
    """Return what a rank clocked; nothing where it never started."""
    path = file.with_name(f"{file.name}.{attempt}.{rank}")
    if not path.exists():
        return Clocked()
    lines = [line.split() for line in path.read_text().splitlines()]
    # A killed process may leave half a line. The first step holds the warm-up of libraries.
    return Clocked(tuple(Step(int(line[0]), float(line[1]), float(line[2])) for line in lines if len(line) == 3)[1:])
