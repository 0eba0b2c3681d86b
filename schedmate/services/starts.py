"""The starts of waiting jobs, estimated again and again: each look at the queue becomes records on Kafka."""

import time
from collections.abc import Callable
from threading import Event

import structlog

from schedmate_records.metrics import MetricFactory
from scheduler_bridge.schedulers import Actuator, ActuatorError, SchedulerAway
from sinks.errors import SinkUnavailable
from streams.resilience import Outage
from streams.transport import Producer, TransportError, write_records

from ..advisor.start_estimates import estimates
from ..advisor.starts import Known, present
from ..simulate.starts import start_ranges

log = structlog.get_logger(__name__)


class StartsMetrics:
    """Counts of written estimates and failed looks."""

    def __init__(self) -> None:
        make = MetricFactory("schedmate_starts")
        self.looks = make.counter("looks", "Readings of the queue with written start estimates.")
        self.waiting = make.gauge("waiting_jobs", "Jobs that waited when the queue was last read.")
        self.written = make.counter("estimates", "Starts that were written.")
        self.look_duration = make.histogram(
            "look_duration_seconds", "Time to read the queue, simulate it and write the estimates.", unit="seconds"
        )


class StartsService:
    """Looks at the queue, simulates it, and writes the estimated starts of waiting jobs. It changes nothing at the scheduler.

    A look that fails is left out: the next one is more useful than a late one.

    Args:
        known: Returns how long jobs take.
        every_s: Seconds from one look to the next.
        futures: How many futures are played at each.
    """

    def __init__(
        self,
        actuator: Actuator,
        known: Known,
        producer: Producer,
        *,
        every_s: float,
        futures: int,
        stop: Event,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.metrics = StartsMetrics()
        self.scheduler, self.redis, self.kafka = (
            Outage(name, consequence="waiting jobs get no estimated start") for name in ("scheduler", "Redis", "Kafka")
        )
        self._actuator, self._known, self._producer = actuator, known, producer
        self._every_s, self._futures, self._stop, self._clock = every_s, futures, stop, clock

    def run(self) -> None:
        """Look until `stop` is set."""
        while not self._stop.is_set():
            began = time.monotonic()
            if self._look():
                self.metrics.looks.inc()
            took = time.monotonic() - began
            self.metrics.look_duration.observe(took)
            # A look that takes long makes the pause before the next at least so many times as long.
            self._stop.wait(max(self._every_s - took, 4 * took))

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        problems = {
            "the scheduler does not answer": self.scheduler,
            "Redis does not answer": self.redis,
            "Kafka does not acknowledge": self.kafka,
        }
        return [problem for problem, outage in problems.items() if outage.ongoing]

    def _look(self) -> bool:
        now = self._clock()
        try:
            queue = self._actuator.queue()
            self.scheduler.succeeded()
            made = present(queue, self._known, now)
            self.redis.succeeded()
            ranges = start_ranges(made, futures=self._futures) if made.waiting else []
            written = estimates(ranges, {each.view.job: each for each in queue.waiting}, now)
            write_records(self._producer, written)
            self.kafka.succeeded()
        except SchedulerAway as error:
            self.scheduler.failed(error)
        except ActuatorError as error:
            log.warning("queue_not_read", error=str(error))
        except SinkUnavailable as error:
            self.redis.failed(error)
        except TransportError as error:
            self.kafka.failed(error)
        else:
            self.metrics.waiting.set(len(made.waiting))
            self.metrics.written.inc(len(written))
            return True
        return False
