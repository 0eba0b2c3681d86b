"""The bridge on Kafka: findings, decisions and job events come in; decisions, results and a scheduler's actions come out."""

import time
from collections.abc import Callable, Iterator, Sequence
from threading import Event

import structlog

from schedmate_records import (
    Alarm,
    Command,
    Decision,
    DecisionResult,
    Failure,
    InvalidRecord,
    JobEvent,
    OperatorCommand,
    Position,
    Quota,
    Record,
    Slowdown,
    check,
    decode_any_version,
)
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.bridge import Remembered
from scheduler_bridge.bundle import Bundles
from scheduler_bridge.schedulers import Actuator
from scheduler_bridge.signing import SigningKeys
from streams.accept import accept
from streams.kafka import Connection, KafkaFollower
from streams.resilience import Outage, retry
from streams.spans import VERDICT, Span, Spans, about_verdict
from streams.transport import Message, Producer, TransportError, write_records

log = structlog.get_logger(__name__)

READ = ("failures", "slowdowns", "alarms", "decisions", "decision-results", "job-events", "quotas")
FOLLOWED = ("decisions", "decision-results", "approvals")
"""Every bridge reads these on its own, too: a standby knows what the active one did, and a stop reaches both."""
RECENT = ("checkpoints", "failures", "alarms")
"""And of these what is not old: what a job would lose, where it goes on, how far it came before it failed, and that it hangs no more is
known wherever the bridge works.
"""


class History:
    """History of decisions, results and commands: all records first, then new ones; and recent checkpoints and failures of jobs."""

    def __init__(self, connection: Connection) -> None:
        # How old: work since an earlier save weighs like work that was never saved, and a job that ran for a day gained steps.
        recent = KafkaFollower(connection, RECENT, since=time.time() - 86400.0)
        self._followers = (recent, KafkaFollower(connection, FOLLOWED))

    def __call__(self) -> Iterator[Remembered]:
        """Yield what was written since the last call, up to now."""
        for message in (message for follower in self._followers for message in follower.new()):
            try:
                record = accept(message)
            except InvalidRecord:  # it becomes a dead letter where a group reads it
                if (forbids := _forbids(message)) is None:
                    continue
                record = forbids
            if isinstance(record, Remembered):
                yield record

    def close(self) -> None:
        """Let go of the broker."""
        for follower in self._followers:
            follower.close()


def _forbids(message: Message) -> OperatorCommand | None:
    """Return a stop or a rejection of a later version: it holds, whatever unknown fields it has. An approval does not."""
    if message.position.topic != "approvals":
        return None
    try:
        command = decode_any_version(OperatorCommand, message.value)
        check(command)
    except InvalidRecord:
        return None
    return command if command.command in (Command.STOP, Command.REJECT) else None


class Bridging:
    """Feeds a bridge from Kafka. A broker that is away stops it for that long, and nothing is passed over.

    Args:
        history: What was written before, and what others write.
        active: False while this bridge is a standby: it carries nothing out then.
        bundles: Where it is kept what was seen before a node is drained or a hung job ends; None: nowhere.
        spans: Takes what traces hold; None: there are none.

    Raises:
        SigningKeyError: The file of keys that the settings name cannot be used.
    """

    def __init__(
        self,
        actuator: Actuator,
        settings: BridgeSettings,
        producer: Producer,
        history: History,
        stop: Event,
        *,
        active: Callable[[], bool],
        bundles: Bundles | None = None,
        spans: Spans | None = None,
    ) -> None:
        self._producer = producer
        self._spans = spans
        self._began = time.time()
        self._stop = stop
        # A decision that waits for the broker waits no longer than this once it is back.
        self._outage = Outage("Kafka", limit_s=2.0, consequence="no decision is made or carried out")
        self._next = 0.0
        self._history = history
        self._active = active
        self._followed = 0.0
        self._stopped = False
        keys = SigningKeys.read(settings.signing_keys_file) if settings.signing_keys_file else None
        self.bridge = Bridge(actuator, settings, self._publish, recall=history, keys=keys, bundles=bundles)
        self._insist(self._follow)  # nothing is decided before the whole history is known

    def handle(self, batch: Sequence[tuple[Position, Record]]) -> None:
        """Take a batch in and let the bridge work. Returns once all that it wrote is acknowledged."""
        self._began = time.time()
        # Seconds between two looks at them. A look also comes right before every action.
        if time.monotonic() >= self._followed + 0.25:
            self._insist(self._follow)
        for _, record in batch:
            if isinstance(record, Failure | Slowdown | Alarm | Decision | DecisionResult | JobEvent | Quota):
                self._insist(lambda record=record: self.bridge.accept(record))  # type: ignore[misc]
        if self._active() and (batch or time.monotonic() >= self._next):
            self._insist(self._advance)

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        problems = {
            "Kafka does not acknowledge": self._outage.ongoing,
            "the scheduler does not answer": self.bridge.scheduler_away,
        }
        stops = [f"no action is carried out: stopped by {stop.author}: {stop.reason}" for stop in self.bridge.stops]
        return [*(problem for problem, there in problems.items() if there), *stops]

    def close(self) -> None:
        """Let go of the broker."""
        self._history.close()

    def _follow(self) -> None:
        """Take in what bridges and people wrote meanwhile, and let this bridge look at once at what it concerns."""
        for record in self._history():
            self.bridge.remember(record)
            self._next = 0.0
        self._followed = time.monotonic()
        if self._stopped != bool(self.bridge.stops):
            self._stopped = not self._stopped
            log.warning("actions_stopped" if self._stopped else "actions_resumed", problems=self.problems())

    def _advance(self) -> None:
        wait = self.bridge.advance()
        self._next = time.monotonic() + (float("inf") if wait is None else wait)

    def _publish(self, record: Record) -> None:
        write_records(self._producer, [record])
        if self._spans and isinstance(record, Decision) and (about := about_verdict(record)):
            attributes: dict[str, str | int] = {
                "action": record.action.value,
                "mode": record.mode.value,
                "policy": record.policy,
            }
            self._spans(Span(about, "decide", self._began, time.time(), VERDICT, record.id, attributes))

    def _insist(self, work: Callable[[], None]) -> None:
        """Do `work` again until the broker takes it: every step of the bridge may be repeated."""
        retry(work, self._outage, on=TransportError, stop=self._stop)
