"""The loop of the bridge: findings become decisions (`proposals`), decisions are reviewed (`review`) and carried out (`execution`)."""

import time
from collections.abc import Callable, Iterable

from schedmate_records import (
    Alarm,
    Checkpoint,
    Decision,
    DecisionResult,
    Failure,
    JobEvent,
    OperatorCommand,
    Quota,
    Record,
    Slowdown,
)

from .bundle import Bundles
from .execution import Execution
from .journal import Journal
from .metrics import BridgeMetrics
from .preemption.look import Preemption
from .proposals import Proposals
from .review import DecisionReview
from .schedulers import Actuator
from .settings import BridgeSettings
from .signing import SigningKeys

Remembered = Decision | DecisionResult | OperatorCommand | Checkpoint | Failure | Alarm
"""Topics that the bridge reads again at its start and before an action."""

Accepted = Remembered | Slowdown | JobEvent | Quota
"""Topics that the bridge reads."""

WORK = 5.0
"""Seconds after which `advance` begins no more work: a thousand failures at once must not keep the bridge from reading."""


class Bridge:
    """Decides, checks, acts, verifies. Not safe for threads: one loop calls it.

    Start it by giving it the whole history of `decisions`, `decision-results` and `approvals` (`remember`); then feed it (`accept`)
    and let it work (`advance`). A record may be given any number of times. What jobs saved and failed with lately may be remembered too:
    nothing is decided about that, but decisions depend on it.

    Args:
        publish: Writes a record to its topic, and returns once it is acknowledged. What it raises goes through to the
            caller; the bridge's state is then as before the call, and nothing is done twice.
        recall: Asked right before an action for what other bridges and people wrote meanwhile, should there be any: where two
            bridges divide the work, or one follows on another, a decision may have changed hands.
        keys: Its own decisions are signed with the first of them, and what none of them signed is not carried out; None: nothing is signed.
        bundles: Where it is kept what was seen before a node is drained or a hung job ends; None: nowhere.
    """

    def __init__(
        self,
        actuator: Actuator,
        settings: BridgeSettings,
        publish: Callable[[Record], None],
        clock: Callable[[], float] = time.time,
        recall: Callable[[], Iterable[Remembered]] = tuple,
        *,
        keys: SigningKeys | None = None,
        bundles: Bundles | None = None,
    ) -> None:
        self._journal = Journal(actuator.name, settings, publish, clock, keys)
        self._proposals = Proposals(self._journal)
        self._recall = recall
        self._execution = Execution(actuator, self._journal, self._catch_up, bundles)
        self._review = DecisionReview(self._journal, self._execution, self._catch_up)
        self._preemption = Preemption(actuator, self._journal, self._execution.outage)

    @property
    def metrics(self) -> BridgeMetrics:
        """Metrics of the bridge."""
        return self._journal.metrics

    @property
    def scheduler_away(self) -> bool:
        """True from the first question that the scheduler did not answer until the next that it does."""
        return self._execution.outage.ongoing

    @property
    def open_decisions(self) -> int:
        """Decisions about which something may still be done."""
        return len(self._journal.ledger.open())

    @property
    def stops(self) -> list[OperatorCommand]:
        """The stops in force: while there is one, nothing is carried out."""
        return self._journal.commands.stops

    def remember(self, record: Remembered) -> None:
        """Take in one record of the history, in any order. That a hang is over, or a verdict another one, is written down."""
        if isinstance(record, Checkpoint):
            self._proposals.on_checkpoint(record)
        elif isinstance(record, Failure):
            self._proposals.remember(record)
        elif isinstance(record, Alarm):
            self._proposals.retract(record)
        else:
            self._journal.remember(record)

    def accept(self, record: Accepted) -> None:
        """Take in one new record. May publish; never asks the scheduler."""
        match record:
            case Failure():
                self._proposals.on_failure(record)
            case Slowdown():
                self._proposals.on_slowdown(record)
            case Alarm():
                self._proposals.on_alarm(record)
            case Quota():
                self._proposals.on_quota(record)
            case Checkpoint():
                self._proposals.on_checkpoint(record)
            case JobEvent():
                self._journal.look_soon(record.job)
            case Decision() | DecisionResult() | OperatorCommand():
                if isinstance(record, Decision) and self._journal.ledger.knows(record.id):
                    self._journal.metrics.repeats.inc()
                self._journal.remember(record)

    def advance(self) -> float | None:
        """Carry out what is ready. May take as long as the actuator's time limits allow.

        Returns:
            Seconds until it wants to be called again; None where nothing waits and no job may be evicted for another.
        """
        look = self._preemption.look()
        until = time.monotonic() + WORK
        ledger = self._journal.ledger
        for work, decisions in (
            (self._execution.settle, ledger.unfinished()),
            (self._review.consider, ledger.pending()),
        ):
            for decision in filter(self._journal.is_due, decisions):
                work(decision)
                if time.monotonic() > until:
                    break
        wait = self._journal.tidy()
        return min((seconds for seconds in (look, wait) if seconds is not None), default=None)

    def _catch_up(self) -> None:
        """Take in what others wrote meanwhile."""
        for record in self._recall():
            self.remember(record)
