"""A job's own clock: when each step ended and how long it took, for the comparison at the end of the demo.

Nothing of SchedMate reads these files while it measures: it has the jobs' logs alone.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

VARIABLE = "DEMO_CLOCK"
"""Names the file, without the ending `.ATTEMPT.RANK`."""


class StepClock:
    """Writes a line at the end of each step: seconds since 1970, and seconds since the step before ended."""

    def __init__(self) -> None:
        name = f"{os.environ[VARIABLE]}.{os.environ['LOCAL_RESTART_COUNT']}.{os.environ['RANK']}"
        self._file = Path(name).open("w", buffering=1)  # noqa: SIM115 - open as long as the process lives
        self.last = time.monotonic()

    def tick(self) -> float:
        """Note the end of a step and return its seconds."""
        now = time.monotonic()
        seconds, self.last = now - self.last, now
        self._file.write(f"{time.time():.6f} {seconds:.6f}\n")
        return seconds


@dataclass(frozen=True)
class Clocked:
    """What one rank of one attempt clocked: the end and the seconds of each step."""

    steps: tuple[tuple[float, float], ...] = ()

    def between(self, start: float, end: float, parts: int) -> float | None:
        """Return the seconds of a typical step among those that ended after `start` and not after `end`; None where there are none.

        The steps are cut into so many equal parts as there were reports, and the median of the parts' means is taken: a report
        speaks of all steps since the one before.
        """
        inside = [seconds for ended, seconds in self.steps if start < ended <= end]
        size = max(1, len(inside) // max(1, parts))
        return median(mean(inside[at : at + size]) for at in range(0, len(inside), size)) if inside else None


def read(file: Path, attempt: int, rank: int) -> Clocked:
    """Return what a rank clocked; nothing where it never started."""
    path = file.with_name(f"{file.name}.{attempt}.{rank}")
    if not path.exists():
        return Clocked()
    pairs = [line.split() for line in path.read_text().splitlines()]
    # A killed process may leave half a line. The first step holds the warm-up of libraries.
    return Clocked(tuple((float(pair[0]), float(pair[1])) for pair in pairs if len(pair) == 2)[1:])
