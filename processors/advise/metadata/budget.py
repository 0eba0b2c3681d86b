"""Limits of one reading of a source tree.

Steps count evaluated expressions and visited parts of values, so they end a reading at the same place in each run. The clock is read
every few steps. A loop that counts no steps is ended by the limits that `__main__` sets in the kernel.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

FOLLOW_STEPS = 40_000
"""Steps for following a program. The largest of 222 jobs takes 8,000."""
FIELD_STEPS = 20_000
"""Steps for each part that reads fields. Higher values finish larger jobs, lower ones stop hostile programs sooner."""
FOLLOW_S = 0.9
"""Processor time for following all programs, in seconds."""
TOTAL_S = 1.3
"""Processor time for a whole reading, in seconds."""
_CLOCK_EVERY = 1_000
"""Steps between two looks at the clock, which may cost milliseconds in a sandbox."""


class Stopped(BaseException):
    """A limit is reached. It is no `Exception`, so that no handler of foreign errors catches it."""


class _Left(threading.local):
    steps = 1 << 62
    until = float("inf")
    ticks = 0


_left = _Left()


def step(count: int = 1) -> None:
    """Count steps; raise `Stopped` if no steps or no time are left."""
    _left.steps -= count
    _left.ticks += 1
    if _left.steps < 0 or (_left.ticks % _CLOCK_EVERY == 0 and time.thread_time() > _left.until):
        raise Stopped("too many steps" if _left.steps < 0 else "too slow")


@contextmanager
def spared() -> Iterator[None]:
    """Keep a tenth of the steps that are left for what follows the block."""
    kept = _left.steps // 10
    _left.steps -= kept
    try:
        yield
    finally:
        _left.steps = max(_left.steps, 0) + kept


def exhausted() -> bool:
    """Return whether no steps or no time are left."""
    return _left.steps <= 0 or time.thread_time() > _left.until


class Guard:
    """Runs the parts of a reading, and keeps the reason of each that failed by its name. `timed`: the clock limits them, too."""

    def __init__(self, *, timed: bool = False) -> None:
        self.failed: dict[str, str] = {}
        self._start = time.thread_time() if timed else float("inf")

    def run(
        self, name: str, part: Callable[[], T], default: T, *, steps: int = FIELD_STEPS, until: float = TOTAL_S
    ) -> T:
        """Return the result of `part`, or `default` if it fails or reaches a limit: steps, or time since the start of the reading."""
        before = _left.steps, _left.until
        _left.steps, _left.until = steps, self._start + until
        try:
            return part()
        except (Exception, Stopped) as error:  # noqa: BLE001  a foreign tree may cause any error
            kind = "" if isinstance(error, Stopped) else f"{type(error).__name__}: "
            self.failed.setdefault(name, f"{kind}{str(error)[:200]}")
            return default
        finally:
            _left.steps, _left.until = before
