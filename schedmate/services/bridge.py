"""The bridge on Kafka: findings, decisions and job events come in; decisions, results and a scheduler's actions come out."""

import time
from collections.abc import Callable, Iterator, Sequence
from threading import Event

from records import Checkpoint, Decision, DecisionResult, Failure, InvalidRecord, JobEvent, Position, Record, Slowdown
from resilience import Outage, retry
from schedmate.settings import BridgeSettings as Wanted
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.actuators import Actuator
from streams.accept import accept
from streams.kafka import Connection, read_back
from streams.transport import Producer, TransportError, outgoing

READ = ("failures", "slowdowns", "decisions", "decision-results", "job-events", "checkpoints")
HISTORY = ("decisions", "decision-results")
ACKNOWLEDGED_S = 30.0
"""An acknowledgement that takes longer counts as an outage: Kafka's client itself tries again for so long."""
RETRY_LIMIT_S = 2.0
"""A decision that waits for the broker waits no longer than this once it is back."""
OVERLAP_S = 60.0
"""How far a second reading of the history goes back before the end of the one before: clocks of hosts differ."""


def bridge_settings(wanted: Wanted) -> BridgeSettings:
    """Return the operator's settings as the bridge takes them."""
    return BridgeSettings(
        enabled=frozenset(wanted.enabled),
        min_confidence=wanted.min_confidence,
        ttl=wanted.ttl_seconds,
        actions_per_cause=wanted.restarts_per_cause,
        actions_per_job=wanted.actions_per_job,
        actions_per_node=wanted.actions_per_node_hour,
        actions_per_cluster=wanted.actions_per_hour,
        user_share=wanted.user_share,
        max_excluded_nodes=wanted.max_excluded_nodes,
        users_against_node=wanted.users_against_node,
        max_drained_share=wanted.max_drained_share,
        min_nodes_left=wanted.min_nodes_left,
        node_cooldown=wanted.node_cooldown_seconds,
        max_grace=wanted.max_grace_seconds,
        checkpoint_signal=wanted.checkpoint_signal,
        max_lifetime=wanted.max_lifetime_seconds,
    )


class History:
    """What stands in the topics of decisions and results: all of it first, then what came since."""

    def __init__(self, connection: Connection, clock: Callable[[], float] = time.time) -> None:
        self._connection = connection
        self._clock = clock
        self._since: float | None = None

    def __call__(self) -> Iterator[Decision | DecisionResult]:
        """Yield what was written since the last call, and a little of what came before."""
        began = self._clock()
        for message in read_back(self._connection, HISTORY, self._since):
            try:
                record = accept(message)
            except InvalidRecord:
                continue  # it becomes a dead letter where the group reads it
            if isinstance(record, Decision | DecisionResult):
                yield record
        self._since = began - OVERLAP_S


class Bridging:
    """Feeds a bridge from Kafka. A broker that is away stops it for that long, and nothing is passed over.

    Args:
        actuator: The scheduler.
        settings: What the operator allows.
        producer: Where decisions and results go.
        history: What was written before.
        stop: Ends the waiting for a broker.
    """

    def __init__(
        self, actuator: Actuator, settings: BridgeSettings, producer: Producer, history: History, stop: Event
    ) -> None:
        self._producer = producer
        self._stop = stop
        self._outage = Outage("Kafka", limit_s=RETRY_LIMIT_S, consequence="no decision is made or carried out")
        self._next = 0.0
        self.bridge = Bridge(actuator, settings, self._publish, recall=history)
        for record in history():
            self.bridge.remember(record)

    def handle(self, batch: Sequence[tuple[Position, Record]]) -> None:
        """Take a batch in and let the bridge work. Returns once all that it wrote is acknowledged."""
        for _, record in batch:
            if isinstance(record, Failure | Slowdown | Decision | DecisionResult | JobEvent | Checkpoint):
                self._insist(lambda record=record: self.bridge.accept(record))  # type: ignore[misc]
        if batch or time.monotonic() >= self._next:
            self._insist(self._advance)

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        said = {
            "Kafka does not acknowledge": self._outage.ongoing,
            "the scheduler does not answer": self.bridge.scheduler_away,
        }
        return [problem for problem, there in said.items() if there]

    def _advance(self) -> None:
        wait = self.bridge.advance()
        self._next = time.monotonic() + (float("inf") if wait is None else wait)

    def _publish(self, record: Record) -> None:
        try:
            self._producer.send(outgoing(record)).result(ACKNOWLEDGED_S)
        except TimeoutError as error:
            raise TransportError(f"expected an acknowledgement within {ACKNOWLEDGED_S:g} s, got none") from error

    def _insist(self, work: Callable[[], None]) -> None:
        """Do `work` again until the broker takes it: every step of the bridge may be repeated."""
        retry(work, self._outage, on=TransportError, stop=self._stop)
