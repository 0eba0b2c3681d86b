"""Journal of decisions. A step is used only after Kafka has acknowledged its record."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from schedmate_records import Decision, DecisionResult, Mode, OperatorCommand, Outcome, Record

from .commands import Commands
from .guardrails import Context, LimitReached, Objection, Wait, awaits_approval
from .ledger import Ledger
from .metrics import BridgeMetrics
from .saves import Saves
from .schedulers import JobView, NodeView
from .settings import BridgeSettings
from .signing import SigningKeys
from .verdicts import Verdicts

log = structlog.get_logger(__name__)

FIRST_LOOK_S = 0.25
"""Seconds until a waiting decision is looked at again; doubled every time. A job event makes the bridge look at once."""


@dataclass(slots=True)
class Watch:
    """A waiting decision: time of its next examination, and results so far.

    Attributes:
        since: When it was last looked at.
        due: When to look again.
        pause: How long to wait after that.
        why: What it waits for.
        user: In whose favour it is, as the scheduler reports; None until it was asked.
        mode: How far it may go with this job or node, as far as that is known.
        saved: When the job began to save its last durable checkpoint, in seconds since 1970.
        told: This bridge has signalled the job to save a checkpoint, and the scheduler accepted that.
    """

    due: float
    pause: float
    since: float = 0.0
    why: str = ""
    user: str | None = None
    mode: Mode = Mode.ACT
    saved: float = 0.0
    told: bool = False


class Journal:
    """The history of decisions, operators' commands about them, when each is looked at again, and what jobs failed with and saved.

    Args:
        scheduler: The name of the scheduler, as in results.
        publish: Writes a record to its topic, and returns once it is acknowledged.
        keys: What decisions are signed with; None: nothing is signed.
    """

    def __init__(
        self,
        scheduler: str,
        settings: BridgeSettings,
        publish: Callable[[Record], None],
        clock: Callable[[], float] = time.time,
        keys: SigningKeys | None = None,
    ) -> None:
        self.metrics = BridgeMetrics()
        self.settings = settings
        self.ledger = Ledger()
        self.commands = Commands()
        self.verdicts = Verdicts()
        self.saves = Saves()
        self.clock = clock
        self._scheduler = scheduler
        self._keys = keys
        self._publish = publish
        self._watches: dict[str, Watch] = {}
        self._forgot = clock()

    def remember(self, record: Decision | DecisionResult | OperatorCommand) -> None:
        """Take in one record of the history, in any order, any number of times."""
        if isinstance(record, OperatorCommand):
            self._obey(record)
        else:
            self.ledger.remember(record)

    def context(self) -> Context:
        """Return what guardrails see, now."""
        return Context(self.ledger, self.settings, self.clock(), self.commands, self._keys, self.verdicts, self.saves)

    def propose(self, decision: Decision) -> None:
        """Publish a decision of the bridge's own, signed where it has keys."""
        if self._keys:
            decision = self._keys.sign(decision)
        self._publish(decision)
        self.ledger.remember(decision)
        self.metrics.proposed.inc()
        log.info("decided", decision=decision.id, mode=decision.mode.value, reason=decision.reason)

    def record(self, decision: Decision, outcome: Outcome, detail: str, seen: JobView | NodeView | None = None) -> None:
        """Write down one step: acknowledged first, believed second."""
        held_against = decision.exclude_nodes[0] if decision.exclude_nodes and decision.node_evidence else ""
        result = DecisionResult(
            id=f"{decision.id}/{outcome}",
            decision_id=decision.id,
            action=decision.action,
            job=decision.job,
            attempt=decision.attempt,
            incarnation=decision.incarnation,
            cause=decision.cause,
            node=decision.node if decision.action.on_node else held_against,
            user=self.watch(decision.id).user or "",
            time=self.clock(),
            outcome=outcome,
            detail=detail,
            seen=seen.summary() if seen else {},
            actuator=self._scheduler,
        )
        self._publish(result)
        self.ledger.remember(result)
        if outcome.final:
            self.metrics.outcomes.labels(outcome.value).inc()
            log.info("concluded", decision=decision.id, outcome=outcome.value, detail=detail, seen=result.seen)

    def conclude(
        self, decision: Decision, objection: Objection, why: str = "", seen: JobView | NodeView | None = None
    ) -> None:
        """Write down that nothing is done about a decision, and why."""
        detail = f"{objection.guardrail}: {objection.reason}" + (f"; {why}" if why else "")
        self.record(decision, objection.outcome, detail, seen)
        if objection.outcome is Outcome.REFUSED:
            self.metrics.refused.labels(objection.guardrail).inc()

    def wait(self, decision: Decision, wait: Wait) -> None:
        """Look at a decision again later. What is to be written down of that is written the first time."""
        if wait.outcome and not self.ledger.result(decision.id, wait.outcome):
            self.record(decision, wait.outcome, wait.reason)
        watch = self.watch(decision.id)
        if watch.why != wait.reason:
            log.info("waiting", decision=decision.id, why=wait.reason)
        watch.why = wait.reason
        watch.since = self.clock()
        watch.due = watch.since + watch.pause
        # A waiting decision is looked at every 2 s at least.
        watch.pause = min(2 * watch.pause, 2.0)

    def defer(self, decision: Decision, limit: LimitReached) -> None:
        """Let a decision wait for an hourly limit; written down the first time."""
        watch = self.watch(decision.id)
        watch.why = f"{limit.guardrail}: {limit.reason}"
        watch.since, watch.due = self.clock(), min(limit.until, decision.expires)
        if not self.ledger.result(decision.id, Outcome.DEFERRED):
            self.record(decision, Outcome.DEFERRED, watch.why)
            self.metrics.deferred.labels(limit.guardrail).inc()
            log.info("deferred", decision=decision.id, why=watch.why)

    def waited_for(self, decision: Decision) -> str:
        """Return what a decision waited for last; from the history where this bridge has not looked yet."""
        waited = (Outcome.AWAITING_APPROVAL, Outcome.STOPPED, Outcome.DEFERRED)
        noted = (self.ledger.result(decision.id, outcome) for outcome in waited)
        return self.watch(decision.id).why or next((result.detail for result in noted if result), "")

    def watch(self, decision_id: str) -> Watch:
        """Return when an open decision is looked at again, and what was learnt of it."""
        if decision_id not in self._watches:
            deferred = self.ledger.result(decision_id, Outcome.DEFERRED)
            user = deferred.user if deferred else None
            self._watches[decision_id] = Watch(due=0.0, pause=FIRST_LOOK_S, user=user)
        return self._watches[decision_id]

    def is_due(self, decision: Decision) -> bool:
        """Is it time to look at a decision again?"""
        watch, now = self.watch(decision.id), self.clock()
        return not watch.since <= now < watch.due  # a clock that was set back must not make anything wait for longer

    def look_soon(self, job: str) -> None:
        """Look at once at the open decisions that move a job or favour it."""
        for decision_id in self.ledger.open_about(job):
            self.look_at(decision_id)

    def look_at(self, decision_id: str) -> None:
        """Look at once at one decision."""
        watch = self.watch(decision_id)
        watch.due, watch.pause = 0.0, FIRST_LOOK_S

    def tidy(self) -> float | None:
        """Drop what is over, and bring the gauges up to date.

        Returns:
            Seconds until an open decision is to be looked at; None where none is open.
        """
        waiting = self.ledger.open()
        self._watches = {key: watch for key, watch in self._watches.items() if key in waiting}
        # Forget every 600 s: the ledger keeps everything for a day anyway.
        if abs(self.clock() - self._forgot) > 600.0:
            self.ledger.forget(self.clock())
            self.commands.forget(self.clock())
            self._forgot = self.clock()
        self._count(len(waiting))
        if not waiting:
            return None
        return max(0.0, min(self.watch(key).due for key in waiting) - self.clock())

    def _count(self, waiting: int) -> None:
        """Bring the numbers that go up and down to what is so now."""
        self.metrics.waiting.set(waiting)
        context = self.context()
        self.metrics.awaiting_approval.set(
            sum(
                self.ledger.result(decision.id, Outcome.AWAITING_APPROVAL) is not None
                and awaits_approval(decision, context, self.watch(decision.id).mode) is not None
                for decision in self.ledger.pending()
            )
        )
        recent = self.ledger.recent(self.clock())
        users, nodes = Counter(tried.user for tried in recent), Counter(tried.node for tried in recent if tried.node)
        self.metrics.actions_last_hour.labels("cluster").set(len(recent))
        self.metrics.actions_last_hour.labels("user").set(max(users.values(), default=0))
        self.metrics.actions_last_hour.labels("node").set(max(nodes.values(), default=0))

    def _obey(self, command: OperatorCommand) -> None:
        """Apply an operator's command, and look at once at the decisions that it concerns."""
        if not self.commands.remember(command):
            return
        self.metrics.stops.set(len(self.commands.stops))
        concerned = self.ledger.open() & {command.about} if command.job else self.ledger.open()
        for decision_id in concerned:
            self.look_at(decision_id)
