"""Holding the stream back while a store is away: one policy for every sink."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import structlog

from .errors import SinkUnavailable

log = structlog.get_logger(__name__)

Result = TypeVar("Result")


@dataclass
class HoldCounters:
    """What holding back cost."""

    retries: int = 0
    """Tries after a first one that found the store away."""
    unavailable_s: float = 0.0
    """Seconds for which the store was away, all outages together."""
    outages: int = 0
    """Times that the store went away."""


class Hold:
    """Runs actions against one store, and waits instead of dropping while the store is away.

    Waits grow from `first_s` to `limit_s`, each shortened at random by up to half, so that many sinks do not come back in
    step. An outage is logged when it begins and when it ends.

    Attributes:
        counters: What it cost so far.
        away: True from the first failure of an outage until the next success; for health checks.
    """

    def __init__(
        self,
        store: str,
        *,
        first_s: float = 0.2,
        limit_s: float = 10.0,
        stop: threading.Event | None = None,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.counters = HoldCounters()
        self.away = False
        self._store = store
        self._first_s = first_s
        self._limit_s = limit_s
        self._stop = stop or threading.Event()
        self._clock = clock
        self._chance = chance

    def run(self, action: Callable[[], Result]) -> Result:
        """Return what `action` returns, trying again for as long as it raises `SinkUnavailable`.

        Blocks while the store is away. Every other exception passes through at once.

        Raises:
            SinkUnavailable: The stop event was set while the store was away; nothing of the action may be taken as done.
        """
        wait_s = self._first_s
        while True:
            since = self._clock()
            try:
                result = action()
            except SinkUnavailable as error:
                self._gone(error)
                stopped = self._stop.wait(wait_s * (1 - 0.5 * self._chance()))
                self.counters.unavailable_s += self._clock() - since
                if stopped:
                    raise
                self.counters.retries += 1
                wait_s = min(wait_s * 2, self._limit_s)
            else:
                self._back()
                return result

    def _gone(self, error: SinkUnavailable) -> None:
        if not self.away:
            self.away = True
            self.counters.outages += 1
            log.warning("store away", store=self._store, error=str(error), then="the stream is held back")

    def _back(self) -> None:
        if self.away:
            self.away = False
            log.info("store back", store=self._store, unavailable_s=round(self.counters.unavailable_s, 3))
