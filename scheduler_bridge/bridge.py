"""From findings to decisions, from decisions to a scheduler, each step written down before and after it is taken."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import structlog

from records import (
    Action,
    Decision,
    DecisionResult,
    Failure,
    InvalidRecord,
    JobEvent,
    OperatorCommand,
    Outcome,
    Record,
    Slowdown,
    decode,
    encode,
)
from resilience import Outage
from scheduler_bridge import effects
from scheduler_bridge.actuators import Actuator, ActuatorError, JobView, SchedulerAway
from scheduler_bridge.commands import Commands
from scheduler_bridge.guardrails import (
    Context,
    LimitReached,
    Objection,
    Wait,
    awaits_approval,
    first_objection,
    limit_reached,
    objection_of_state,
    stopped,
)
from scheduler_bridge.ledger import Ledger, LedgerEntry
from scheduler_bridge.metrics import BridgeMetrics
from scheduler_bridge.policies import propose, restart
from scheduler_bridge.settings import BridgeSettings

log = structlog.get_logger(__name__)

Remembered = Decision | DecisionResult | OperatorCommand
"""What the bridge reads back when it starts, and right before an action."""

Accepted = Remembered | Failure | Slowdown | JobEvent
"""What the bridge reads."""

REVISIONS_KEPT = 10_000
"""Attempts whose newest revision is known; the oldest have ended long ago."""

WORK = 5.0
"""Seconds after which `advance` begins no more work: a thousand failures at once must not keep the bridge from reading."""

TIDY = 600.0
"""Seconds between two looks for what the ledger may forget: it keeps everything for a day anyway."""


@dataclass(slots=True)
class _Watch:
    """When to look at a waiting decision again, and what was learnt of it.

    Attributes:
        due: When to look again.
        pause: How long to wait after that.
        confirmed: Its verdict was repeated after the attempt had ended.
        why: What it waits for.
        user: In whose favour it is, as the scheduler says; None until it was asked.
    """

    due: float
    pause: float
    confirmed: bool = False
    why: str = ""
    user: str | None = None


class Bridge:
    """Decides, checks, acts, verifies. Not safe for threads: one loop calls it.

    Start it by giving it the whole history of `decisions`, `decision-results` and `approvals` (`remember`); then feed it (`accept`)
    and let it work (`advance`). A record may be given any number of times.

    Args:
        actuator: The scheduler.
        settings: What the operator allows.
        publish: Writes a record to its topic, and returns once it is acknowledged. What it raises goes through to the
            caller; the bridge then stands as if it had not been asked, and nothing is done twice.
        clock: Seconds since 1970.
        recall: Asked right before an action for what other bridges and people wrote meanwhile, should there be any: where two
            bridges divide the work, or one follows on another, a decision may have changed hands.
    """

    def __init__(
        self,
        actuator: Actuator,
        settings: BridgeSettings,
        publish: Callable[[Record], None],
        clock: Callable[[], float] = time.time,
        recall: Callable[[], Iterable[Remembered]] = tuple,
    ) -> None:
        self.metrics = BridgeMetrics()
        self._recall = recall
        self._actuator = actuator
        self._settings = settings
        self._publish = publish
        self._clock = clock
        self._ledger = Ledger()
        self._commands = Commands()
        self._watches: dict[str, _Watch] = {}
        self._revisions: dict[tuple[str, int], int] = {}
        self._outage = Outage(actuator.name, consequence="decisions wait until it answers or they expire")
        self._tidied = clock()

    @property
    def scheduler_away(self) -> bool:
        """True from the first question that the scheduler did not answer until the next that it does."""
        return self._outage.ongoing

    @property
    def stops(self) -> list[OperatorCommand]:
        """The stops in force: while there is one, nothing is carried out."""
        return self._commands.stops

    def remember(self, record: Remembered) -> None:
        """Take in one record of the history, in any order."""
        if isinstance(record, OperatorCommand):
            self._obey(record)
        else:
            self._ledger.remember(record)

    def accept(self, record: Accepted) -> None:
        """Take in one new record. May publish; never asks the scheduler."""
        match record:
            case Failure():
                self._accept_failure(record)
            case Slowdown():
                self._adopt(propose(record, self._settings))
            case Decision():
                if self._ledger.knows(record.id):
                    self.metrics.repeats.inc()
                self._ledger.remember(record)
            case DecisionResult() | OperatorCommand():
                self.remember(record)
            case JobEvent():
                self._look_soon(record.job)

    def advance(self) -> float | None:
        """Carry out what is ready. May take as long as the actuator's time limits allow.

        Returns:
            Seconds until it wants to be called again; None where nothing waits.
        """
        until = time.monotonic() + WORK
        for work, decisions in ((self._settle, self._ledger.unfinished()), (self._consider, self._ledger.pending())):
            for decision in filter(self._is_due, decisions):
                work(decision)
                if time.monotonic() > until:
                    break
        waiting = self._ledger.open()
        self._watches = {key: watch for key, watch in self._watches.items() if key in waiting}
        if abs(self._clock() - self._tidied) > TIDY:
            self._ledger.forget(self._clock())
            self._commands.forget(self._clock())
            self._tidied = self._clock()
        self._count(len(waiting))
        if not waiting:
            return None
        return max(0.0, min(self._watch(key).due for key in waiting) - self._clock())

    def _obey(self, command: OperatorCommand) -> None:
        """Take in what a person said, and look at once at the decisions that it concerns."""
        if not self._commands.remember(command):
            return
        self.metrics.stops.set(len(self._commands.stops))
        concerned = self._ledger.open() & {command.about} if command.job else self._ledger.open()
        for decision_id in concerned:
            self._look_at(decision_id)

    def _accept_failure(self, failure: Failure) -> None:
        """Propose what the newest revision says, and retract what an older one led to."""
        if not self._is_newest(failure):
            self.metrics.repeats.inc()
            return
        proposal = propose(failure, self._settings)
        earlier = [
            entry for entry in self._ledger.about(failure.job, failure.attempt) if entry.policy == restart.POLICY
        ]
        repeats = [self._reconsider(entry, proposal, failure) for entry in earlier]
        if any(repeats):
            self.metrics.repeats.inc()
            return
        self._adopt(proposal)
        if proposal is not None and failure.final:
            self._watch(proposal.id).confirmed = True

    def _is_newest(self, failure: Failure) -> bool:
        """False for a revision older than one that was seen already."""
        attempt = (failure.job, failure.attempt)
        if failure.revision < self._revisions.get(attempt, 0):
            return False
        self._revisions.pop(attempt, None)
        self._revisions[attempt] = failure.revision
        if len(self._revisions) > REVISIONS_KEPT:
            del self._revisions[next(iter(self._revisions))]
        return True

    def _reconsider(self, entry: LedgerEntry, proposal: Decision | None, failure: Failure) -> bool:
        """Hold an earlier decision about the same attempt against a new revision. True where it says the same already."""
        earlier = entry.decision
        assert earlier is not None
        same = proposal is not None and (earlier.cause, earlier.exclude_nodes) == (
            proposal.cause,
            proposal.exclude_nodes,
        )
        if entry.untouched:
            if proposal is None:
                reason = f"the verdict was retracted: revision {failure.revision} says {failure.error_type}"
                self._conclude(earlier, Objection("verdict", f"{reason} ({failure.message})"))
            elif not same:
                self._conclude(earlier, Objection("verdict", f"replaced by {proposal.id}"))
            elif failure.final:
                self._watch(earlier.id).confirmed = True
                self._look_soon(earlier.job)
        # What was refused may be proposed again for another root line; the guardrails will look at it afresh.
        return same and (entry.result is None or entry.result.outcome is not Outcome.REFUSED)

    def _adopt(self, decision: Decision | None) -> None:
        """Publish a decision of our own, unless it is known, or names of strangers make it one that nobody could read."""
        if decision is None:
            return
        try:
            decode(Decision, encode(decision))
        except InvalidRecord as error:
            log.warning("not_decided", error=str(error))
            return
        if self._ledger.knows(decision.id):
            self.metrics.repeats.inc()
            return
        self._publish(decision)
        self._ledger.remember(decision)
        self.metrics.proposed.inc()
        log.info("decided", decision=decision.id, mode=decision.mode.value, reason=decision.reason)

    def _consider(self, decision: Decision) -> None:
        """Ask every guardrail, then the scheduler; act, wait, or write down why not."""
        if not self._is_worth_asking(decision):
            return
        watch = self._watch(decision.id)
        try:
            job = self._actuator.job(decision.job)
            beneficiary = self._actuator.job(decision.beneficiary) if decision.beneficiary else None
        except SchedulerAway as error:
            self._note_outage(error)
            self._wait(decision, Wait(f"the scheduler could not be asked: {error}"))
            return
        except ActuatorError as error:
            self._conclude(decision, Objection("job-state", str(error)))
            return
        self._outage.succeeded()
        verdict = objection_of_state(decision, job, beneficiary, watch.confirmed)
        # What a job prints leads to an action in its own favour, or in that of the job that was slowed.
        favoured = beneficiary or job
        watch.user = favoured.user if favoured else ""
        if isinstance(verdict, Objection):
            self._conclude(decision, verdict, seen=job)
        elif wait := awaits_approval(decision, self._context()) or verdict:
            self._wait(decision, wait)
        elif limit := limit_reached(decision, self._context(), watch.user):
            self._defer(decision, limit)
        elif self._is_still_open(decision, watch.user):
            self._act(decision)

    def _is_worth_asking(self, decision: Decision) -> bool:
        """False where guardrails, people or limits forbid the decision or hold it back, whatever the scheduler would say."""
        watch = self._watch(decision.id)
        objection = first_objection(decision, self._context())
        if objection is None and not self._actuator.supports(decision.action):
            objection = Objection("actuator", f"{self._actuator.name} cannot {decision.action}")
        if objection is not None:
            self._conclude(
                decision, objection, self._waited_for(decision) if objection.outcome is Outcome.EXPIRED else ""
            )
            return False
        if wait := stopped(self._context()):
            self._wait(decision, wait)
            return False
        if watch.user is not None and (limit := limit_reached(decision, self._context(), watch.user)):
            self._defer(decision, limit)
            return False
        return True

    def _is_still_open(self, decision: Decision, user: str) -> bool:
        """Take in what others wrote meanwhile. False where they dealt with the decision, or left no room for it."""
        for record in self._recall():
            self.remember(record)
        if not self._ledger.is_pending(decision.id):
            return False
        if objection := first_objection(decision, self._context()):
            self._conclude(decision, objection)
            return False
        if wait := stopped(self._context()):
            self._wait(decision, wait)
            return False
        if limit := limit_reached(decision, self._context(), user):
            self._defer(decision, limit)
            return False
        return True

    def _defer(self, decision: Decision, limit: LimitReached) -> None:
        """Let a decision wait for an hourly limit; written down the first time."""
        watch = self._watch(decision.id)
        watch.why = f"{limit.guardrail}: {limit.reason}"
        watch.due = min(limit.until, decision.expires)
        if not self._ledger.result(decision.id, Outcome.DEFERRED):
            self._record(decision, Outcome.DEFERRED, watch.why)
            self.metrics.deferred.labels(limit.guardrail).inc()
            log.info("deferred", decision=decision.id, why=watch.why)

    def _act(self, decision: Decision) -> None:
        approval = self._commands.approval(decision, self._clock())
        why = f"approved by {approval.author}: {approval.reason}" if approval else ""
        self._record(decision, Outcome.STARTED, why)
        nodes = tuple(decision.exclude_nodes)
        try:
            match decision.action:
                case Action.RESTART:
                    seen = self._actuator.restart(decision.job, nodes)
                case Action.CANCEL_PACKING:
                    seen = self._actuator.cancel_packing(decision.job)
                case Action.EVICT:
                    seen = self._actuator.evict(decision.job)
        except SchedulerAway as error:
            self._note_outage(error)
            self._settle(decision)
        except ActuatorError as error:
            self._record(decision, Outcome.FAILED, str(error))
        else:
            self._record(decision, Outcome.DONE, why, seen)

    def _settle(self, decision: Decision) -> None:
        """Find out what became of an action whose result is missing. It is never tried again."""
        try:
            job = self._actuator.job(decision.job)
        except SchedulerAway as error:
            self._note_outage(error)
            if self._clock() <= decision.expires:
                self._wait(decision, Wait(str(error)))
            else:
                self._record(decision, Outcome.UNVERIFIED, f"started; the scheduler could not be asked: {error}")
            return
        except ActuatorError as error:
            self._record(decision, Outcome.UNVERIFIED, f"started; {error}")
            return
        self._outage.succeeded()
        if effects.shows(decision, job):
            self._record(decision, Outcome.DONE, "interrupted; the scheduler shows the effect", job)
        else:
            detail = "interrupted, and the scheduler does not show the effect; nothing more is done, look at the job"
            self._record(decision, Outcome.UNVERIFIED, detail, job)

    def _context(self) -> Context:
        return Context(self._ledger, self._settings, self._clock(), self._commands)

    def _conclude(self, decision: Decision, objection: Objection, why: str = "", seen: JobView | None = None) -> None:
        detail = f"{objection.guardrail}: {objection.reason}" + (f"; {why}" if why else "")
        self._record(decision, objection.outcome, detail, seen)
        if objection.outcome is Outcome.REFUSED:
            self.metrics.refused.labels(objection.guardrail).inc()

    def _record(self, decision: Decision, outcome: Outcome, detail: str, seen: JobView | None = None) -> None:
        """Write down one step: acknowledged first, believed second."""
        result = DecisionResult(
            id=f"{decision.id}/{outcome}",
            decision_id=decision.id,
            action=decision.action,
            job=decision.job,
            attempt=decision.attempt,
            cause=decision.cause,
            node=decision.exclude_nodes[0] if decision.exclude_nodes and decision.node_evidence else "",
            user=self._watch(decision.id).user or "",
            time=self._clock(),
            outcome=outcome,
            detail=detail,
            seen=seen.seen() if seen else {},
            actuator=self._actuator.name,
        )
        self._publish(result)
        self._ledger.remember(result)
        if outcome.final:
            self.metrics.outcomes.labels(outcome.value).inc()
            log.info("concluded", decision=decision.id, outcome=outcome.value, detail=detail, seen=result.seen)

    def _count(self, waiting: int) -> None:
        """Bring the numbers that go up and down to what is so now."""
        self.metrics.waiting.set(waiting)
        context = self._context()
        self.metrics.awaiting_approval.set(
            sum(
                self._ledger.result(decision.id, Outcome.AWAITING_APPROVAL) is not None
                and awaits_approval(decision, context) is not None
                for decision in self._ledger.pending()
            )
        )
        recent = self._ledger.recent(self._clock())
        users, nodes = Counter(tried.user for tried in recent), Counter(tried.node for tried in recent if tried.node)
        self.metrics.actions_last_hour.labels("cluster").set(len(recent))
        self.metrics.actions_last_hour.labels("user").set(max(users.values(), default=0))
        self.metrics.actions_last_hour.labels("node").set(max(nodes.values(), default=0))

    def _watch(self, decision_id: str) -> _Watch:
        if decision_id not in self._watches:
            deferred = self._ledger.result(decision_id, Outcome.DEFERRED)
            user = deferred.user if deferred else None
            self._watches[decision_id] = _Watch(due=0.0, pause=self._settings.first_look, user=user)
        return self._watches[decision_id]

    def _is_due(self, decision: Decision) -> bool:
        return self._watch(decision.id).due <= self._clock()

    def _wait(self, decision: Decision, wait: Wait) -> None:
        """Look at a decision again later. What is to be written down of that is written the first time."""
        if wait.outcome and not self._ledger.result(decision.id, wait.outcome):
            self._record(decision, wait.outcome, wait.reason)
        watch = self._watch(decision.id)
        if watch.why != wait.reason:
            log.info("waiting", decision=decision.id, why=wait.reason)
        watch.why = wait.reason
        watch.due = self._clock() + watch.pause
        watch.pause = min(2 * watch.pause, self._settings.longest_look)

    def _look_soon(self, job: str) -> None:
        for decision_id in self._ledger.open_about(job):
            self._look_at(decision_id)

    def _look_at(self, decision_id: str) -> None:
        watch = self._watch(decision_id)
        watch.due, watch.pause = 0.0, self._settings.first_look

    def _waited_for(self, decision: Decision) -> str:
        """Return what a decision waited for last; what stands in the history where this bridge has not looked yet."""
        waited = (Outcome.AWAITING_APPROVAL, Outcome.STOPPED, Outcome.DEFERRED)
        noted = (self._ledger.result(decision.id, outcome) for outcome in waited)
        return self._watch(decision.id).why or next((result.detail for result in noted if result), "")

    def _note_outage(self, error: SchedulerAway) -> None:
        self.metrics.scheduler_away.inc()
        self._outage.failed(error)
