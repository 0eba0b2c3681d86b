"""A circuit breaker: a server that fails again and again is left alone for a while."""

import time
from collections.abc import Callable


class CircuitBreaker:
    """Opens after `failures` in a row; after `rest` seconds one question is let through, and its outcome decides. Not safe for threads.

    Args:
        failures: In a row, that open it.
        rest: Seconds that it stays open; doubled each time that the trial fails, up to sixteen times.
    """

    def __init__(self, failures: int = 3, rest: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._rest, self._clock = failures, rest, clock
        self._failures = 0
        self._times_opened = 0
        self._until = 0.0
        self._trying = False

    @property
    def open(self) -> bool:
        """Whether questions are held back now."""
        if self._failures < self._limit:
            return False
        return self._trying or self._clock() < self._until

    def begin(self) -> None:
        """Note that a question goes out."""
        self._trying = self._failures >= self._limit

    def succeeded(self) -> bool:
        """Note that it was answered. Returns whether that closed the breaker."""
        closed = self._failures >= self._limit
        self._failures, self._times_opened, self._trying = 0, 0, False
        return closed

    def failed(self) -> bool:
        """Note that it was not. Returns whether that opened the breaker, from closed."""
        self._failures += 1
        if self._failures < self._limit:
            return False
        if self._failures == self._limit or self._trying:
            self._until = self._clock() + self._rest * 2 ** min(self._times_opened, 4)
            self._times_opened += 1
        self._trying = False
        return self._failures == self._limit
