"""From findings to decisions, from decisions to a scheduler, each step written down before and after it is taken."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import structlog

from records import (
    Action,
    Checkpoint,
    CheckpointState,
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
from scheduler_bridge.actuators import Actuator, ActuatorError, JobView, NodeView, SchedulerAway, SchedulerJobState
from scheduler_bridge.commands import Commands
from scheduler_bridge.guardrails import (
    Context,
    LimitReached,
    Objection,
    Wait,
    awaits_approval,
    first_objection,
    limit_reached,
    objection_of_node,
    objection_of_state,
    stopped,
)
from scheduler_bridge.ledger import Ledger, LedgerEntry
from scheduler_bridge.metrics import BridgeMetrics
from scheduler_bridge.policies import OF_FAILURES, propose
from scheduler_bridge.settings import BridgeOptions

log = structlog.get_logger(__name__)

Remembered = Decision | DecisionResult | OperatorCommand
"""What the bridge reads back when it starts, and right before an action."""

Accepted = Remembered | Failure | Slowdown | JobEvent | Checkpoint
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
        saved: When the job began to save its last durable checkpoint, in seconds since 1970.
    """

    due: float
    pause: float
    confirmed: bool = False
    why: str = ""
    user: str | None = None
    saved: float = 0.0


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
        settings: BridgeOptions,
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
                for decision in propose(record, self._settings):
                    self._adopt(decision)
            case Decision():
                if self._ledger.knows(record.id):
                    self.metrics.repeats.inc()
                self._ledger.remember(record)
            case DecisionResult() | OperatorCommand():
                self.remember(record)
            case JobEvent():
                self._look_soon(record.job)
            case Checkpoint():
                self._accept_checkpoint(record)

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

    def _accept_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Note a durable checkpoint of a job that may be evicted once it has one; one that began before counts for nothing."""
        if checkpoint.state is CheckpointState.DURABLE:
            for decision_id in self._ledger.open_about(checkpoint.job):
                self._watch(decision_id).saved = max(checkpoint.since, self._watch(decision_id).saved)
            self._look_soon(checkpoint.job)

    def _accept_failure(self, failure: Failure) -> None:
        """Propose what the newest revision says, and retract what an older one led to."""
        if not self._is_newest(failure):
            self.metrics.repeats.inc()
            return
        users = self._ledger.users_against(failure.node, self._clock()) if failure.node else ()
        proposals = {proposal.policy: proposal for proposal in propose(failure, self._settings, users)}
        earlier = [entry for entry in self._ledger.about(failure.job, failure.attempt) if entry.policy in OF_FAILURES]
        repeated = {entry.policy for entry in earlier if self._reconsider(entry, proposals.get(entry.policy), failure)}
        self.metrics.repeats.inc(len(repeated))
        for policy, proposal in proposals.items():
            if policy not in repeated and not self._is_proposed(proposal):
                self._adopt(proposal)
                self._watch(proposal.id).confirmed |= failure.final

    def _is_proposed(self, proposal: Decision) -> bool:
        """True where another job's failure led to the same drain a short while ago."""
        if proposal.action is not Action.DRAIN:
            return False
        earlier = self._ledger.drain_proposed(proposal.node, proposal.time - self._settings.node_cooldown)
        return earlier not in ("", proposal.id)

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
        same = proposal is not None and (earlier.cause, earlier.exclude_nodes, earlier.node) == (
            proposal.cause,
            proposal.exclude_nodes,
            proposal.node,
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

    def _adopt(self, decision: Decision) -> None:
        """Publish a decision of our own, unless it is known, or names of strangers make it one that nobody could read."""
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
            verdict, seen, watch.user = self._examine(decision, confirmed=watch.confirmed)
        except SchedulerAway as error:
            self._note_outage(error)
            self._wait(decision, Wait(f"the scheduler could not be asked: {error}"))
            return
        except ActuatorError as error:
            self._conclude(decision, Objection("job-state", str(error)))
            return
        self._outage.succeeded()
        self._follow(decision, verdict, seen)

    def _follow(self, decision: Decision, verdict: Objection | Wait | None, seen: JobView | NodeView | None) -> None:
        """Act, wait, or write down why not, now that the scheduler was asked."""
        user = self._watch(decision.id).user or ""
        if isinstance(verdict, Objection):
            self._conclude(decision, verdict, seen=seen)
        elif wait := awaits_approval(decision, self._context()) or verdict:
            self._wait(decision, wait)
        elif limit := limit_reached(decision, self._context(), user):
            self._defer(decision, limit)
        elif self._is_still_open(decision, user):
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

    def _examine(
        self, decision: Decision, *, confirmed: bool
    ) -> tuple[Objection | Wait | None, JobView | NodeView | None, str]:
        """Ask the scheduler. Returns what stands in the way, what it showed, and the user in whose favour the decision is."""
        if decision.action is Action.NOTIFY:
            return None, None, ""
        if decision.action.on_node:
            nodes, now = self._actuator.nodes(), self._clock()
            users = self._ledger.users_against(decision.node, now)
            verdict = objection_of_node(decision, nodes, users, self._settings, now)
            return verdict, next((each for each in nodes if each.node == decision.node), None), ""
        job = self._actuator.job(decision.job)
        beneficiary = self._actuator.job(decision.beneficiary) if decision.beneficiary else None
        # What a job prints leads to an action in its own favour, or in that of the job that was slowed.
        favoured = beneficiary or job
        return objection_of_state(decision, job, beneficiary, confirmed), job, favoured.user if favoured else ""

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
        self._record(decision, Outcome.STARTED, self._approved(decision))
        try:
            if decision.action is Action.EVICT and decision.grace_s:
                self._actuator.signal(decision.job, self._settings.checkpoint_signal)
                self._wait(decision, Wait(f"job {decision.job} was told to save a checkpoint"))
                return
        except SchedulerAway as error:
            self._note_outage(error)
            self._settle(decision)
        except ActuatorError as error:
            self._record(decision, Outcome.FAILED, str(error))
        else:
            self._carry_out(decision)

    def _approved(self, decision: Decision) -> str:
        """Return who approved a decision, and why; empty where nobody had to."""
        approval = self._commands.approval(decision, self._clock())
        return f"approved by {approval.author}: {approval.reason}" if approval else ""

    def _carry_out(self, decision: Decision) -> None:
        try:
            seen = effects.carry_out(self._actuator, decision)
        except SchedulerAway as error:
            self._note_outage(error)
            self._settle(decision)
        except ActuatorError as error:
            self._record(decision, Outcome.FAILED, str(error))
        else:
            if effects.drains(decision, seen):
                self._wait(decision, Wait(f"jobs still run on {decision.node}"))
            else:
                self._record(decision, Outcome.DONE, self._approved(decision), seen)

    def _settle(self, decision: Decision) -> None:
        """Go on with an action that is under way, or find out what became of one whose result a crash took."""
        try:
            seen = self._see(decision)
        except SchedulerAway as error:
            self._note_outage(error)
            if self._clock() <= decision.expires or decision.action is Action.DRAIN:
                self._wait(decision, Wait(str(error)))
            else:
                self._record(decision, Outcome.UNVERIFIED, f"started; the scheduler could not be asked: {error}")
            return
        except ActuatorError as error:
            self._record(decision, Outcome.UNVERIFIED, f"started; {error}")
            return
        self._outage.succeeded()
        if effects.shows(decision, seen):
            self._record(decision, Outcome.DONE, "the scheduler, asked later, shows the effect", seen)
        elif effects.drains(decision, seen):
            self._wait(decision, Wait(f"jobs still run on {decision.node}"))
        elif decision.grace_s and isinstance(seen, JobView) and effects.may_be_evicted(decision, seen):
            self._evict_in_grace(decision, seen)
        else:
            detail = "interrupted, and the scheduler does not show the effect; nothing more is done, look at it"
            self._record(decision, Outcome.UNVERIFIED, detail, seen)

    def _evict_in_grace(self, decision: Decision, job: JobView) -> None:
        """Evict a job that was told to save a checkpoint, once it did, or once its time is over."""
        started = self._ledger.started(decision.id)
        assert started is not None
        if job.state in (SchedulerJobState.COMPLETED, SchedulerJobState.CANCELLED):
            self._record(decision, Outcome.DONE, "the job ended before it was stopped", job)
            return
        if wait := stopped(self._context()):
            self._wait(decision, wait)
            return
        waits = self._clock() < started.time + decision.grace_s and self._watch(decision.id).saved <= started.time
        if job.state is SchedulerJobState.STOPPING or (job.state is SchedulerJobState.RUNNING and waits):
            self._wait(decision, Wait(f"job {decision.job} was told to save a checkpoint"))
        else:
            self._carry_out(decision)

    def _see(self, decision: Decision) -> JobView | NodeView | None:
        if decision.action is Action.NOTIFY:
            return None
        if not decision.action.on_node:
            return self._actuator.job(decision.job)
        return next((each for each in self._actuator.nodes() if each.node == decision.node), None)

    def _context(self) -> Context:
        return Context(self._ledger, self._settings, self._clock(), self._commands)

    def _conclude(
        self, decision: Decision, objection: Objection, why: str = "", seen: JobView | NodeView | None = None
    ) -> None:
        detail = f"{objection.guardrail}: {objection.reason}" + (f"; {why}" if why else "")
        self._record(decision, objection.outcome, detail, seen)
        if objection.outcome is Outcome.REFUSED:
            self.metrics.refused.labels(objection.guardrail).inc()

    def _record(
        self, decision: Decision, outcome: Outcome, detail: str, seen: JobView | NodeView | None = None
    ) -> None:
        """Write down one step: acknowledged first, believed second."""
        held_against = decision.exclude_nodes[0] if decision.exclude_nodes and decision.node_evidence else ""
        result = DecisionResult(
            id=f"{decision.id}/{outcome}",
            decision_id=decision.id,
            action=decision.action,
            job=decision.job,
            attempt=decision.attempt,
            cause=decision.cause,
            node=decision.node if decision.action.on_node else held_against,
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
