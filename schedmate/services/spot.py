"""The spot manager on Kafka and a scheduler: looks at the queue become quotas."""

import time
from collections.abc import Callable, Iterator, Sequence
from threading import Event

import structlog

from schedmate_records import Action, BeyondQuota, DecisionResult, InvalidRecord, Position, Quota, Record
from schedmate_records.metrics import MetricFactory
from scheduler_bridge.schedulers import Actuator, ActuatorError, SchedulerAway, SchedulerJobState
from streams.accept import accept
from streams.kafka import Connection, KafkaFollower
from streams.resilience import Outage, retry
from streams.transport import Producer, TransportError, write_records

from ..spot.quotas import Quotas
from ..spot.settings import SpotSettings

log = structlog.get_logger(__name__)

READ = ("job-events",)
"""An event of a job leads to a look at the queue; its content is not used."""
PAST = ("quotas", "decision-results")
"""And these it reads on its own: demand of the past, and evictions."""


class SpotMetrics:
    """Metrics of the spot manager."""

    def __init__(self) -> None:
        make = MetricFactory("schedmate_spot")
        self.quota = make.gauge("quota_gpus", "GPUs that spot jobs may have; NaN where unknown.")
        self.spot_gpus = make.gauge("in_use_gpus", "GPUs that spot jobs hold.")
        self.safety = make.gauge("safety", "The safety coefficient eta.")
        self.beyond = make.gauge("beyond", "Waiting spot jobs that do not fit into the quota.")
        self.quotas = make.counter("quotas", "Quotas written.")
        self.without = make.counter("without_quota", "Intervals without a quota.")
        self.looks = make.counter("looks", "Readings of the queue.")
        self.decide_duration = make.histogram("decide_duration_seconds", "Time to make a quota.", unit="seconds")


class PastQuotas:
    """Yield the records of `quotas` and `decision-results`: first those that are young enough, then new ones."""

    def __init__(self, connection: Connection, settings: SpotSettings) -> None:
        now = time.time()
        self._followers = (
            KafkaFollower(connection, PAST[:1], since=now - 86400.0 * settings.history_days),
            KafkaFollower(connection, PAST[1:], since=now - 3600.0 * settings.guaranteed_hours),
        )

    def __call__(self) -> Iterator[Quota | DecisionResult]:
        """Yield what was written since the last call, up to now. What cannot be read is passed over: the sink makes a dead letter of it."""
        for message in (message for follower in self._followers for message in follower.new()):
            try:
                record = accept(message)
            except InvalidRecord:
                continue
            if isinstance(record, Quota | DecisionResult):
                yield record

    def close(self) -> None:
        """Let go of the broker."""
        for follower in self._followers:
            follower.close()


class SpotService:
    """Looks, decides, writes. It asks the scheduler and changes nothing there.

    Args:
        past: What was written before, by whomever.
        active: False while this one is a standby.
    """

    def __init__(
        self,
        actuator: Actuator,
        quotas: Quotas,
        settings: SpotSettings,
        producer: Producer,
        *,
        past: Callable[[], Iterator[Quota | DecisionResult]],
        stop: Event,
        active: Callable[[], bool],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.metrics = SpotMetrics()
        self.kafka = Outage("Kafka", consequence="no quota is written")
        self.scheduler = Outage("scheduler", consequence="there is no quota")
        self._actuator, self._quotas, self._settings = actuator, quotas, settings
        self._producer, self._past, self._stop = producer, past, stop
        self._active, self._clock = active, clock
        self._next = self._least = 0.0

    def handle(self, batch: Sequence[tuple[Position, Record]]) -> None:
        """Look at the queue where it is time to, and write a quota where one is due."""
        if not self._active():
            return
        now = time.monotonic()
        if now >= self._next or (batch and now >= self._least):
            self._look()
        if self._quotas.due(self._clock()):
            retry(self._write, self.kafka, on=TransportError, stop=self._stop)

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        problems = {"Kafka does not acknowledge": self.kafka, "the scheduler does not answer": self.scheduler}
        return [problem for problem, outage in problems.items() if outage.ongoing]

    def _look(self) -> None:
        began = time.monotonic()
        try:
            self._quotas.look(self._actuator.queue(), self._clock())
            self.scheduler.succeeded()
        except SchedulerAway as error:
            self.scheduler.failed(error)
            self._quotas.lose_sight()
        except ActuatorError as error:
            log.warning("queue_not_read", error=str(error))
            self._quotas.lose_sight()
        self.metrics.looks.inc()
        took = time.monotonic() - began
        # Seconds between two looks at least. The longer a look takes, the rarer they are: a twentieth of the time goes there.
        self._least = time.monotonic() + max(1.0, 19 * took)
        self._next = max(self._least, began + self._settings.look_seconds)

    def _write(self) -> None:
        for record in self._past():
            self._quotas.remember(record)
        if not self._quotas.due(self._clock()):
            return  # another one wrote it before this one took over
        with self.metrics.decide_duration.time():
            quota = self._quotas.decide(self._clock(), self._is_held)
        write_records(self._producer, [quota])
        self._quotas.acknowledged(quota)
        self._log_quota(quota)

    def _is_held(self, job: BeyondQuota) -> bool:
        """Ask whether a job is held, and whether that was the last that the bridge did to it."""
        try:
            view = self._actuator.job(job.job)
        except ActuatorError as error:
            log.warning("job_not_read", job=job.job, error=str(error))
            return job.held
        return (
            view is not None
            and view.state is SchedulerJobState.HELD
            and bool(view.acts)
            and view.acts[-1].startswith(f"{Action.HOLD}/")
        )

    def _log_quota(self, quota: Quota) -> None:
        self.metrics.quotas.inc()
        self.metrics.without.inc(quota.quota is None)
        self.metrics.quota.set(float("nan") if quota.quota is None else quota.quota)
        self.metrics.spot_gpus.set(quota.spot_in_use or 0.0)
        self.metrics.safety.set(quota.safety)
        self.metrics.beyond.set(len(quota.beyond))
        log.info("quota", quota=quota.quota, reason=quota.reason, capacity=quota.capacity, forecaster=quota.forecaster)
