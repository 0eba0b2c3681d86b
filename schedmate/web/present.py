"""The present state of jobs from Redis, for the time in which ClickHouse is away."""

from collections.abc import Callable, Sequence

from schedmate.services.sink import redis_client
from schedmate.settings import RedisSection
from sinks import SinkRejected, SinkUnavailable
from sinks.redis import JobStatus, read_job, read_jobs

SHOWN = 100
"""Jobs at most, those that changed last."""

Present = Callable[[str], Sequence[JobStatus]]
"""Returns what is known now of one job, by its id, or of all where that is empty."""


def present(settings: RedisSection) -> Present:
    """Return a reader of Redis; where that is away, too, it knows nothing."""

    def read(job: str) -> Sequence[JobStatus]:
        try:
            with redis_client(settings) as client:
                if not job:
                    return read_jobs(client, SHOWN, prefix=settings.prefix)
                found = read_job(client, job, prefix=settings.prefix)
                return [found] if found else []
        except (SinkUnavailable, SinkRejected):
            return []

    return read
