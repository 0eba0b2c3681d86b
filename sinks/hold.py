"""Holding the stream back while a store is away: one policy for every sink."""

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import structlog
from prometheus_client import Counter, Gauge

from .errors import SinkUnavailable

log = structlog.get_logger(__name__)

Result = TypeVar("Result")


class HoldMetrics:
    """Metrics of one hold; `store` becomes a part of their names."""

    def __init__(self, store: str) -> None:
        prefix = f"schedmate_{store.lower()}_hold"
        self.away = Gauge(f"{prefix}_away", "1 while the store is away and the stream is held back.", registry=None)
        self.retries = Counter(f"{prefix}_retries", "Tries after a first one that found the store away.", registry=None)
        self.outages = Counter(f"{prefix}_outages", "Times that the store went away.", registry=None)
        self.unavailable = Counter(
            f"{prefix}_unavailable_seconds",
            "Time for which the store was away, all outages together.",
            unit="seconds",
            registry=None,
        )


class Hold:
    """Runs actions against one store, and waits instead of dropping while the store is away.

    Waits grow from `first_s` to `limit_s`, each shortened at random by up to half, so that many sinks do not come back in
    step. An outage is logged when it begins and when it ends.

    Attributes:
        metrics: What it cost so far.
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
        self.metrics = HoldMetrics(store)
        self.away = False
        self._since = 0.0
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
                self.metrics.unavailable.inc(self._clock() - since)
                if stopped:
                    raise
                self.metrics.retries.inc()
                wait_s = min(wait_s * 2, self._limit_s)
            else:
                self._back()
                return result

    def _gone(self, error: SinkUnavailable) -> None:
        if not self.away:
            self.away = True
            self.metrics.away.set(1)
            self.metrics.outages.inc()
            self._since = self._clock()
            log.warning("store away", store=self._store, error=str(error), then="the stream is held back")

    def _back(self) -> None:
        if self.away:
            self.away = False
            self.metrics.away.set(0)
            log.info("store back", store=self._store, unavailable_s=round(self._clock() - self._since, 3))
