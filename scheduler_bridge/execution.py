"""Carries out decisions, verifies their effects, and completes those that a crash interrupted."""

from collections.abc import Callable

from schedmate_records import Action, Decision, DecisionResult, Mode, Outcome
from streams.resilience import Outage

from . import effects
from .bundle import Bundles
from .examine import examine
from .guardrails import (
    AGAIN,
    HELD_BACK,
    Objection,
    Wait,
    awaits_approval,
    first_objection,
    objection_of_gain,
    stopped,
)
from .journal import Journal
from .node_check import NodeCheck
from .schedulers import Actuator, ActuatorError, JobView, NodeView, SchedulerAway, SchedulerJobState

PREPARED = frozenset({Action.DRAIN, Action.CANCEL})
"""Actions before which something is looked at that is gone, or not to be had, afterwards."""


class Execution:
    """Acts on one scheduler.

    Args:
        journal: Where each step is written down before and after it is taken.
        catch_up: Called before a step that comes long after the last question: takes in what other bridges and people wrote meanwhile.
        bundles: Where it is kept what was seen before a node is drained or a hung job ends; None: nowhere.
    """

    def __init__(
        self, actuator: Actuator, journal: Journal, catch_up: Callable[[], None], bundles: Bundles | None = None
    ) -> None:
        self.actuator = actuator
        self.outage = Outage(actuator.name, consequence="decisions wait until it answers or they expire")
        self._journal = journal
        self._catch_up = catch_up
        self._bundles = bundles

    def prepare(self, decision: Decision) -> str | None:
        """Look at what only shows before a decision is carried out; touches nothing, and may take a minute.

        Returns:
            The state that was seen, for the decision's result; None where it forbids the decision, which is then concluded.
        """
        if decision.action is Action.CANCEL:
            self._keep_stacks(decision)
        checked = self._check(decision) if decision.action is Action.DRAIN else None
        if checked and checked.passed:
            self._journal.conclude(decision, Objection("check", f"{decision.node} is healthy: {checked.detail}"))
            return None
        return checked.detail if checked else ""

    def start(self, decision: Decision, note: str = "") -> None:
        """Begin a decision that nothing was done about, and finish it unless it takes a while. `note` goes into its result."""
        notes = (self._approved(decision), note)
        self._journal.record(decision, Outcome.STARTED, "; ".join(each for each in notes if each))
        try:
            if effects.is_signalled_first(self.actuator, decision):
                self._tell_to_save(decision)
                return
        except SchedulerAway as error:
            self.note_outage(error)
            self.settle(decision, may_act=False)
        except ActuatorError as error:
            self._journal.record(decision, Outcome.FAILED, str(error))
        else:
            self._carry_out(decision)

    def settle(self, decision: Decision, *, may_act: bool = True) -> None:
        """Go on with an action that is under way, or find out what became of one whose result a crash took.

        What a crash or an outage cut off is done again where the scheduler shows that it was not done, and finished where it shows that
        half of it was. `may_act`: False right after an attempt, so that one look ends.
        """
        try:
            seen = self._see(decision)
        except SchedulerAway as error:
            self.note_outage(error)
            if self._journal.clock() <= decision.expires or decision.action is Action.DRAIN:
                self._journal.wait(decision, Wait(str(error)))
            else:
                self._journal.record(
                    decision, Outcome.UNVERIFIED, f"started; the scheduler could not be asked: {error}"
                )
            return
        except ActuatorError as error:
            self._journal.record(decision, Outcome.UNVERIFIED, f"started; {error}")
            return
        self.outage.succeeded()
        if effects.shows(decision, seen):
            detail = "the scheduler shows the effect"
            approved = self._approved(decision)
            self._journal.record(decision, Outcome.DONE, f"{approved}; {detail}" if approved else detail, seen)
        elif effects.drains(decision, seen):
            self._journal.wait(decision, Wait(f"jobs still run on {decision.node}"))
        elif not may_act:
            self._journal.wait(decision, Wait("the scheduler did not answer during the action"))
        elif isinstance(seen, JobView) and effects.is_undecided(decision, seen):
            self._journal.wait(decision, Wait(f"job {decision.job} is stopping"))
        elif isinstance(seen, JobView) and effects.is_half_done(decision, seen):
            self._carry_out(decision)  # even if it is forbidden meanwhile: its job would stay held
        elif isinstance(seen, JobView) and effects.is_in_grace(self.actuator, decision, seen):
            self._evict_in_grace(decision, seen)
        else:
            self._begin_again(decision, seen)

    def note_outage(self, error: SchedulerAway) -> None:
        """Count a question that the scheduler did not answer; one that it answers ends the outage."""
        self._journal.metrics.scheduler_away.inc()
        self.outage.failed(error)

    def _check(self, decision: Decision) -> NodeCheck | None:
        """Check a node before it is drained. If the check forbids the drain, record that before anything is changed."""
        checked = self.actuator.check(decision.node)
        if self._bundles:
            try:
                view = self.actuator.describe(decision.node)
            except ActuatorError as error:
                view = str(error)
            said = f"{checked.detail}\n\n{checked.output}" if checked else "no check is configured"
            self._bundles.keep(decision, {"scheduler.txt": view, "check.txt": said})
        return checked

    def _keep_stacks(self, decision: Decision) -> None:
        """Keep what the processes of a hung job are doing while they are still there."""
        stacks = self.actuator.stacks(decision.job)
        if stacks and self._bundles:
            self._bundles.keep(decision, {"stacks.txt": stacks})

    def _carry_out(self, decision: Decision) -> None:
        try:
            yields, saved = self._journal.settings.evict_yield_seconds, self._saved_since(decision)
            seen = effects.carry_out(self.actuator, decision, yields, saved)
        except SchedulerAway as error:
            self.note_outage(error)
            self.settle(decision, may_act=False)
        except ActuatorError as error:
            self._journal.record(decision, Outcome.FAILED, str(error))
        else:
            if effects.drains(decision, seen):
                self._journal.wait(decision, Wait(f"jobs still run on {decision.node}"))
            else:
                self._journal.record(decision, Outcome.DONE, self._approved(decision), seen)

    def _begin_again(self, decision: Decision, seen: JobView | NodeView | None) -> None:
        """Do what was begun and cut off before anything of it was done, where that would still be right."""
        self._catch_up()
        if not self._journal.ledger.is_open(decision.id):
            return  # another bridge has dealt with it
        if wait := stopped(self._journal.context()):
            self._journal.wait(decision, wait)
            return
        against: Objection | Wait | None = first_objection(decision, self._journal.context(), AGAIN)
        try:
            found = examine(self.actuator, self._journal, decision, again=True)
            against = against or self._held_back(decision, found.seen) or found.verdict
        except SchedulerAway as error:
            self.note_outage(error)
            self._journal.wait(decision, Wait(str(error)))
            return
        except ActuatorError as error:
            self._journal.record(decision, Outcome.UNVERIFIED, f"started; {error}")
            return
        if against is None:
            self._carry_out(decision)
        elif isinstance(against, Wait):
            self._journal.wait(decision, against)
        else:
            detail = f"interrupted, and the scheduler does not show the effect; it is not repeated: {against.reason}"
            self._journal.record(decision, Outcome.UNVERIFIED, detail, seen)

    def _evict_in_grace(self, decision: Decision, job: JobView) -> None:
        """Evict a job that was asked to save a checkpoint, once it did, or once its grace period is over."""
        started = self._journal.ledger.started(decision.id)
        assert started is not None
        if job.state in (SchedulerJobState.COMPLETED, SchedulerJobState.CANCELLED):
            self._journal.record(decision, Outcome.DONE, "the job ended before it was stopped", job)
            return
        waits = (
            self._journal.clock() < started.time + decision.grace_s
            and self._journal.watch(decision.id).saved <= started.time
        )
        runs = job.state is SchedulerJobState.RUNNING
        if job.state is SchedulerJobState.STOPPING or (runs and waits):
            self._wait_for_save(decision, started, job)
            return
        self._catch_up()
        if not self._journal.ledger.is_open(decision.id):
            return  # another bridge has dealt with it
        against: Objection | Wait | None = stopped(self._journal.context())
        if runs:  # a job that died of the signal is queued again in any case
            against = against or self._untimely(decision, started) or self._forbidden(decision, started, job)
            against = against or self._needless(decision)
        if isinstance(against, Wait):
            self._journal.wait(decision, against)
        elif against:
            self._journal.conclude(decision, against, seen=job)
        else:
            self._carry_out(decision)

    def _tell_to_save(self, decision: Decision) -> None:
        self.actuator.signal(decision.job, self._journal.settings.checkpoint_signal)
        self._journal.watch(decision.id).told = True
        self._journal.wait(decision, Wait(f"job {decision.job} was asked to save a checkpoint"))

    def _wait_for_save(self, decision: Decision, started: DecisionResult, job: JobView) -> None:
        """Wait. Signal the job again where this bridge does not know that it was signalled: twice is better than never."""
        untold = job.state is SchedulerJobState.RUNNING and not self._journal.watch(decision.id).told
        try:
            if untold and not stopped(self._journal.context()) and not self._forbidden(decision, started, job):
                self._tell_to_save(decision)
                return
        except SchedulerAway as error:
            self.note_outage(error)
        except ActuatorError as error:  # it ended meanwhile, perhaps: the next look shows it
            self._journal.wait(decision, Wait(str(error)))
            return
        self._journal.wait(decision, Wait(f"job {decision.job} was asked to save a checkpoint"))

    def _untimely(self, decision: Decision, started: DecisionResult) -> Objection | None:
        """Return that the grace period was over long ago, as after a night in which no bridge ran.

        Its end is to the eviction what the cause was to the decision: so long after it the act may begin.
        """
        late = self._journal.clock() - (started.time + decision.grace_s + decision.expires - decision.time)
        return Objection("expiry", f"its grace period ended {late:.0f} s ago", Outcome.EXPIRED) if late > 0 else None

    def _forbidden(self, decision: Decision, started: DecisionResult, job: JobView) -> Objection | Wait | None:
        """Return why an act that has begun must stop: an operator or the settings forbid it now, and it can still be stopped."""
        if objection := first_objection(decision, self._journal.context(), HELD_BACK):
            return objection
        held_back = self._held_back(decision, job)
        # An approval ends with the decision's own time, which may be over before the grace period is.
        approved = self._journal.commands.approval(decision, started.time)
        return None if isinstance(held_back, Wait) and approved else held_back

    def _needless(self, decision: Decision) -> Objection | Wait | None:
        """Return that the job for which another one was to go has found its place meanwhile, or that this is not known."""
        try:
            beneficiary = self.actuator.job(decision.beneficiary) if decision.beneficiary else None
        except SchedulerAway as error:
            self.note_outage(error)
            return Wait(str(error))
        except ActuatorError as error:
            return Objection("job-state", str(error))
        return objection_of_gain(decision, beneficiary)

    def _held_back(self, decision: Decision, seen: JobView | NodeView | None) -> Objection | Wait | None:
        """Return that the operator has held such decisions back since this one began."""
        mode = self._journal.settings.mode_of(decision.action, seen)
        self._journal.watch(decision.id).mode = mode
        if mode is Mode.SHADOW:
            return Objection("mode", f"{decision.action.plural} are in shadow mode for {decision.target}")
        return awaits_approval(decision, self._journal.context(), mode)

    def _saved_since(self, decision: Decision) -> str:
        """Return where a job that is evicted has saved since that was decided; empty for nowhere."""
        saved = self._journal.saves.newest(decision.job, decision.incarnation)
        newer = saved and saved.attempt == decision.attempt and saved.time > decision.time
        return saved.path if saved and newer and decision.action is Action.EVICT else ""

    def _see(self, decision: Decision) -> JobView | NodeView | None:
        if decision.action is Action.NOTIFY:
            return None
        if not decision.action.on_node:
            return self.actuator.job(decision.job)
        return next((each for each in self.actuator.nodes(decision.node) if each.node == decision.node), None)

    def _approved(self, decision: Decision) -> str:
        """Return who approved a decision, and why; empty where no approval was needed."""
        approval = self._journal.commands.approval(decision, self._journal.clock())
        return f"approved by {approval.author}: {approval.reason}" if approval else ""
