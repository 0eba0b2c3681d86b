"""Waiting for something that is away: one policy for brokers, stores and schedulers."""

import random
import re
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import structlog

from schedmate_records.metrics import MetricFactory

log = structlog.get_logger(__name__)

Result = TypeVar("Result")
Failed = TypeVar("Failed", bound=Exception)


class OutageMetrics:
    """Metrics of outages of one dependency; its name is part of theirs."""

    def __init__(self, dependency: str) -> None:
        prefix = f"schedmate_{re.sub('[^a-z0-9]+', '_', dependency.lower())}"
        make = MetricFactory(prefix)
        self.away = make.gauge("away", "1 while it is away and data for it is held back.")
        self.retries = make.counter("retries", "Retries while it was unavailable.")
        self.outages = make.counter("outages", "Number of outages.")
        self.unavailable = make.counter("unavailable_seconds", "Total time of all outages.", unit="seconds")


class Backoff:
    """Pauses between tries: they double from `first_s` to `limit_s`, each shortened at random by up to half, so that clients spread.

    Args:
        first_s: The first pause, in seconds.
        limit_s: The longest one.
        chance: Returns a number from 0 to 1 that shortens a pause.
    """

    def __init__(self, first_s: float, limit_s: float, chance: Callable[[], float] = random.random) -> None:
        self._first_s, self._limit_s, self._chance = first_s, limit_s, chance
        self._pause_s = first_s

    def pause(self) -> float:
        """Return the seconds to wait before the next try."""
        pause_s = self._pause_s * (1 - 0.5 * self._chance())
        self._pause_s = min(2 * self._pause_s, self._limit_s)
        return pause_s

    def reset(self) -> None:
        """Begin with the first pause again."""
        self._pause_s = self._first_s


class Outage:
    """Whether one dependency is away, and how long to wait before the next try.

    Pauses are those of `Backoff`.
    The beginning and the end of an outage are logged once each, as `dependency_unavailable` and `dependency_available`.
    Not safe for threads: a caller with several holds its own lock.

    Attributes:
        reason: The last error.

    Args:
        dependency: What is away, for people: `ClickHouse`, `Kafka`, `Slurm`.
        first_s: The first pause, in seconds.
        limit_s: The longest pause.
        consequence: What happens meanwhile, for the log.
        chance: Returns a number from 0 to 1 that shortens a pause.
    """

    def __init__(
        self,
        dependency: str,
        *,
        first_s: float = 0.2,
        limit_s: float = 10.0,
        consequence: str = "tried again until it answers",
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.metrics = OutageMetrics(dependency)
        self.reason = ""
        self._began = 0.0
        self.dependency = dependency
        self._backoff = Backoff(first_s, limit_s, chance)
        self._consequence = consequence
        self._clock = clock
        self._counted_until: float | None = None

    @property
    def ongoing(self) -> bool:
        """True from the first failure until the next success; for health checks."""
        return self._counted_until is not None

    def failed(self, error: object) -> float:
        """Note a try that found the dependency away, and return the seconds to wait before the next one."""
        self.reason = str(error)
        if self._counted_until is None:
            self.metrics.outages.inc()
            self.metrics.away.set(1)
            self._counted_until = self._began = self._clock()
            self._backoff.reset()
            log.warning(
                "dependency_unavailable", dependency=self.dependency, error=str(error), consequence=self._consequence
            )
        else:
            self._count_retry(self._counted_until)
        return self._backoff.pause()

    def succeeded(self) -> None:
        """Note a try that the dependency answered."""
        if self._counted_until is None:
            return
        self._count_retry(self._counted_until)
        self._counted_until = None
        self.metrics.away.set(0)
        log.info(
            "dependency_available",
            dependency=self.dependency,
            unavailable_s=round(self._clock() - self._began, 3),
        )

    def _count_retry(self, since: float) -> None:
        now = self._clock()
        self.metrics.retries.inc()
        self.metrics.unavailable.inc(now - since)
        self._counted_until = now


def retry(
    action: Callable[[], Result],
    outage: Outage,
    *,
    on: type[Exception] | tuple[type[Exception], ...],
    stop: threading.Event,
) -> Result:
    """Return what `action` returns, trying again for as long as it raises `on`. Blocks; every other exception passes at once.

    Raises:
        on: `stop` was set while the dependency was away; nothing of the action may be taken as done.
    """
    while True:
        try:
            result = action()
        except on as error:
            if stop.wait(outage.failed(error)):
                raise
        else:
            outage.succeeded()
            return result


def retry_within(
    action: Callable[[], Result],
    *,
    on: type[Failed],
    tries: int,
    until: float,
    backoff: Backoff,
    at_least: Callable[[Failed], float] = lambda _: 0.0,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> Result:
    """Return what `action` returns, tried a bounded number of times. Blocks; exceptions other than `on` pass at once.

    Args:
        action: What to try.
        on: What another try may mend.
        tries: Tries at most, the first included.
        until: By `clock`, when no further try begins.
        backoff: The pauses.
        at_least: The shortest pause that an error allows, in seconds.
        clock: Seconds that only grow.
        sleep: Waits for so many seconds.

    Raises:
        on: The error of the last try.
    """
    while True:
        try:
            return action()
        except on as error:
            tries -= 1
            pause = max(backoff.pause(), at_least(error))
            if tries <= 0 or pause > until - clock():
                raise
            sleep(pause)
