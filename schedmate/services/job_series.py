"""Series of running jobs for Prometheus, read from Redis at each scrape."""

from collections.abc import Callable, Iterator, Sequence

import structlog
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from sinks import SinkRejected, SinkUnavailable
from sinks.redis.status import JobStatus

log = structlog.get_logger(__name__)

_SERIES: tuple[tuple[str, str, Callable[[JobStatus], float | None]], ...] = (
    ("step", "Training step of the newest report.", lambda job: job.step),
    ("step_time_seconds", "Seconds per step.", lambda job: job.step_time_s),
    ("loss", "Training loss.", lambda job: job.loss),
    ("gpus", "GPUs that it holds.", lambda job: job.gpus),
    ("done_ratio", "Share of the work that was done at the newest estimate.", lambda job: job.estimate_done),
    ("remaining_seconds", "Remaining time at the newest estimate.", lambda job: job.estimate_remaining_s),
    ("last_report_timestamp_seconds", "Arrival of the newest report.", lambda job: job.metric_time),
    ("alarms", "Alarms that are raised.", lambda job: float(len(job.alarms))),
)
"""Name after `schedmate_running_job_`, meaning and value of each series. A job has no series of a value that is not known."""


class RunningJobs(Collector):
    """Collects the series of running jobs, those that changed last first.

    Args:
        read: Returns the state of at most so many jobs, those updated last first.
        limit: Jobs at most.
    """

    def __init__(self, read: Callable[[int], Sequence[JobStatus]], limit: int) -> None:
        self._read, self._limit = read, limit

    def describe(self) -> list[GaugeMetricFamily]:
        """Return the families without a sample, so that registering asks nothing of Redis."""
        return [*self._families([]), self._left_out(0)]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the series; none while Redis does not answer."""
        try:
            # Further jobs that are read, with as many again as the limit: some of those that changed last have ended.
            found = [job for job in self._read(2 * self._limit + 100) if job.state == "running"]
        except (SinkUnavailable, SinkRejected) as error:
            log.warning("job_series_unavailable", reason=str(error))
            return
        yield from self._families(found[: self._limit])
        yield self._left_out(max(0, len(found) - self._limit))

    def _families(self, jobs: Sequence[JobStatus]) -> Iterator[GaugeMetricFamily]:
        for name, about, value in _SERIES:
            family = GaugeMetricFamily(f"schedmate_running_job_{name}", about, labels=("job", "user", "name"))
            for job in jobs:
                if (known := value(job)) is not None:
                    # Characters of a label's value: jobs choose their names.
                    family.add_metric([each[:128] for each in (job.job, job.user, job.name)], known)
            yield family

    def _left_out(self, count: int) -> GaugeMetricFamily:
        return GaugeMetricFamily(
            "schedmate_running_jobs_left_out", "Running jobs without series, of those that changed last.", count
        )
