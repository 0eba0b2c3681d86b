"""Durations of jobs from Redis: their progress, and the advisor's estimates."""

from collections.abc import Iterator
from contextlib import contextmanager

from scheduler_bridge.schedulers import JobView
from sinks.redis.read_state import read_job

from ..services.sink import redis_client
from ..settings.settings import RedisSection
from .starts import Expected, Known


@contextmanager
def known_durations(settings: RedisSection) -> Iterator[Known]:
    """Yield a lookup of how long jobs take; without Redis it knows nothing. It raises as `sinks.redis.read_job` does."""
    if not settings.url:
        yield lambda _: None
        return
    with redis_client(settings) as client:

        def lookup(view: JobView) -> Expected | None:
            status = read_job(client, view.job, prefix=settings.prefix)
            if status is None or status.estimate_attempt != view.attempt or status.estimate_time is None:
                return None
            if status.estimate_remaining_s is not None:
                ends = (status.estimate_remaining_s, status.estimate_remaining_low_s, status.estimate_remaining_high_s)
                return Expected(*ends, time=status.estimate_time, whole=False)
            if status.estimate_duration_s is None:
                return None
            ends = (status.estimate_duration_s, status.estimate_low_s, status.estimate_high_s)
            return Expected(*ends, time=status.estimate_time, whole=True)

        yield lookup
