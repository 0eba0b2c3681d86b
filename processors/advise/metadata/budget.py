"""Limits that all parts of a reading share: steps, which every evaluation and traversal counts, and processor time.

A source tree may hold values that share their parts, so that a short program makes a value whose traversal never ends. Steps end such
a traversal at the same place in every run. The clock ends what counts no steps, such as a parser of a library.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TypeVar

T = TypeVar("T")

FOLLOW_STEPS = 40_000
"""Steps for following one program. The largest of 222 jobs takes 8,000; a step takes about 15 microseconds."""
FOLLOW_S = 0.9
"""Seconds of processor time until all programs are followed. The slowest of 222 jobs takes 0.2 in all."""
FIELD_STEPS = 20_000
"""Steps for one field."""
FIELD_S = 0.2
"""Seconds of processor time for one field, so that one field leaves time for the others."""
TOTAL_S = 1.3
"""Seconds of processor time for the whole reading."""
_AGAIN_S = 0.02
"""Interval at which the alarm repeats, for code that swallows the first one."""


class Stopped(BaseException):
    """A limit is reached; what was read so far is kept. No handler of `Exception` swallows it."""


class TooManySteps(Stopped):
    """The steps of a part, or of a call in it, are used up."""


class _Left(threading.local):
    steps = 1 << 62


_left = _Left()
_armed: list[bool] = []
"""Not empty while an alarm may end a part."""


def step(count: int = 1) -> None:
    """Count steps of an evaluation or a traversal.

    Raises:
        TooManySteps: None are left.
    """
    _left.steps -= count
    if _left.steps < 0:
        raise TooManySteps("too many steps")


@contextmanager
def leaving_some() -> Iterator[None]:
    """Keep a tenth of the steps that are left for what follows the block, so that one call that never ends does not use up all."""
    kept = _left.steps // 10
    _left.steps -= kept
    try:
        yield
    finally:
        _left.steps = max(_left.steps, 0) + kept


def used_up() -> bool:
    """Whether no steps are left."""
    return _left.steps <= 0


class Guard:
    """Runs the parts of a reading. A part that fails or reaches a limit gives its default, and the failure is kept.

    Args:
        timed: Whether the clock ends parts, too. That takes the main thread of a process, and its timer of processor time.

    Attributes:
        failed: Reason by name of the part.
    """

    def __init__(self, *, timed: bool = False) -> None:
        self.failed: dict[str, str] = {}
        self._timed = timed
        self._start = time.process_time()

    def run(
        self, name: str, part: Callable[[], T], default: T, *, steps: int, seconds: float, until: float = TOTAL_S
    ) -> T:
        """Return what `part` returns; `default` where it fails.

        Args:
            name: Name of the part, for `failed`.
            part: What to run.
            default: Result where it fails.
            steps: Steps that it may take.
            seconds: Processor time that it may take.
            until: Processor time since the start of the reading at which it ends in any case.
        """
        seconds = min(seconds, until - (time.process_time() - self._start))
        before, _left.steps = _left.steps, steps
        try:
            with _alarm(seconds) if self._timed else nullcontext():
                return part()
        except (Exception, Stopped) as error:  # noqa: BLE001  whatever a part makes of a foreign tree
            if self._timed:
                _silence()  # the alarm may have interrupted the end of its own context
            self.note(name, error)
            return default
        finally:
            _left.steps = before

    def note(self, name: str, error: BaseException) -> None:
        """Keep the first failure of a part."""
        kind = "" if isinstance(error, Stopped) else f"{type(error).__name__}: "
        self.failed.setdefault(name, f"{kind}{str(error)[:200]}")


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `Stopped` once this process has worked so long, also inside a loop of pure Python."""
    if seconds <= 0:
        raise Stopped("no time left")
    signal.signal(signal.SIGPROF, _stop)
    _armed.append(True)
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN_S)
    try:
        yield
    finally:
        _silence()


def _silence() -> None:
    _armed.clear()  # first: a signal that is under way ends nothing any more
    signal.setitimer(signal.ITIMER_PROF, 0)


def _stop(*_: object) -> None:
    if _armed:
        raise Stopped("too slow")
