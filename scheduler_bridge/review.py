"""Whether a decision is carried out now: guardrails, people and the scheduler are asked, in this order."""

from collections.abc import Callable, Iterable

from records import Decision, DecisionResult, Mode, OperatorCommand, Outcome
from scheduler_bridge.actuators import ActuatorError, JobView, NodeView, SchedulerAway
from scheduler_bridge.examine import examine
from scheduler_bridge.execution import Execution
from scheduler_bridge.guardrails import (
    Objection,
    Wait,
    awaits_approval,
    first_objection,
    limit_reached,
    stopped,
)
from scheduler_bridge.journal import Journal


class Review:
    """Looks at a decision about which nothing was done yet, and lets it wait, refuses it, or has it carried out.

    Args:
        journal: What is known of decisions.
        execution: Carries out what nothing stands against.
        recall: Asked right before an action for what other bridges and people wrote meanwhile.
    """

    def __init__(
        self,
        journal: Journal,
        execution: Execution,
        recall: Callable[[], Iterable[Decision | DecisionResult | OperatorCommand]],
    ) -> None:
        self._journal = journal
        self._execution = execution
        self._recall = recall

    def consider(self, decision: Decision) -> None:
        """Ask every guardrail, then the scheduler; act, wait, or write down why not."""
        if not self._is_worth_asking(decision):
            return
        watch = self._journal.watch(decision.id)
        try:
            found = examine(self._execution.actuator, self._journal, decision, confirmed=watch.confirmed)
        except SchedulerAway as error:
            self._execution.note_outage(error)
            self._journal.wait(decision, Wait(f"the scheduler could not be asked: {error}"))
            return
        except ActuatorError as error:
            self._journal.conclude(decision, Objection("job-state", str(error)))
            return
        self._execution.outage.succeeded()
        watch.user = found.user
        self._follow(decision, found.verdict, found.seen)

    def _follow(self, decision: Decision, verdict: Objection | Wait | None, seen: JobView | NodeView | None) -> None:
        """Act, wait, or write down why not, now that the scheduler was asked."""
        user = self._journal.watch(decision.id).user or ""
        mode = self._journal.settings.mode_of(decision.action, seen)
        self._journal.watch(decision.id).mode = mode
        if mode is Mode.SHADOW:
            reason = f"the action {decision.action} is not turned on for {decision.target}"
            self._journal.conclude(decision, Objection("mode", reason, Outcome.SHADOWED), seen=seen)
        elif isinstance(verdict, Objection):
            self._journal.conclude(decision, verdict, seen=seen)
        elif wait := awaits_approval(decision, self._journal.context(), mode) or verdict:
            self._journal.wait(decision, wait)
        elif limit := limit_reached(decision, self._journal.context(), user):
            self._journal.defer(decision, limit)
        elif self._is_still_open(decision, user):
            self._execution.start(decision)

    def _is_worth_asking(self, decision: Decision) -> bool:
        """False where guardrails, people or limits forbid the decision or hold it back, whatever the scheduler would say."""
        watch = self._journal.watch(decision.id)
        objection = first_objection(decision, self._journal.context())
        if objection is None and not self._execution.actuator.supports(decision.action):
            objection = Objection("actuator", f"{self._execution.actuator.name} cannot {decision.action}")
        if objection is not None:
            self._journal.conclude(
                decision, objection, self._journal.waited_for(decision) if objection.outcome is Outcome.EXPIRED else ""
            )
            return False
        if wait := stopped(self._journal.context()):
            self._journal.wait(decision, wait)
            return False
        if watch.user is not None and (limit := limit_reached(decision, self._journal.context(), watch.user)):
            self._journal.defer(decision, limit)
            return False
        return True

    def _is_still_open(self, decision: Decision, user: str) -> bool:
        """Take in what others wrote meanwhile. False where they dealt with the decision, or left no room for it."""
        for record in self._recall():
            self._journal.remember(record)
        if not self._journal.ledger.is_pending(decision.id):
            return False
        if objection := first_objection(decision, self._journal.context()):
            self._journal.conclude(decision, objection)
            return False
        if wait := stopped(self._journal.context()):
            self._journal.wait(decision, wait)
            return False
        if limit := limit_reached(decision, self._journal.context(), user):
            self._journal.defer(decision, limit)
            return False
        return True
