"""Whether a decision is carried out now: guardrails, people and the scheduler are asked, in this order."""

from collections.abc import Callable

from schedmate_records import Decision, Mode, Outcome

from .examine import Examination, examine
from .execution import PREPARED, Execution
from .guardrails import (
    Objection,
    Wait,
    awaits_approval,
    first_objection,
    limit_reached,
    stopped,
)
from .journal import Journal
from .schedulers import ActuatorError, SchedulerAway


class DecisionReview:
    """Looks at a decision about which nothing was done yet, and lets it wait, refuses it, or has it carried out.

    Args:
        execution: Carries out what no guardrail forbids.
        catch_up: Called right before an action: takes in what other bridges and people wrote meanwhile.
    """

    def __init__(
        self,
        journal: Journal,
        execution: Execution,
        catch_up: Callable[[], None],
    ) -> None:
        self._journal = journal
        self._execution = execution
        self._catch_up = catch_up

    def consider(self, decision: Decision) -> None:
        """Ask every guardrail, then the scheduler; act, wait, or write down why not."""
        if not self._journal.ledger.is_pending(decision.id):
            return  # what came to light while another decision was looked at has ended it
        if not self._goes_ahead(decision):
            return
        note = ""
        if decision.action in PREPARED:
            prepared = self._execution.prepare(decision)
            # The preparation may have taken a minute. Meanwhile an operator may have stopped it, or the job or node may have changed.
            if prepared is None or not self._goes_ahead(decision):
                return
            note = prepared
        self._execution.start(decision, note)

    def _goes_ahead(self, decision: Decision) -> bool:
        """True where nothing known now forbids a decision. Otherwise the reason is recorded."""
        if not self._is_worth_asking(decision):
            return False
        watch = self._journal.watch(decision.id)
        try:
            found = examine(self._execution.actuator, self._journal, decision)
        except SchedulerAway as error:
            self._execution.note_outage(error)
            self._journal.wait(decision, Wait(f"the scheduler could not be asked: {error}"))
            return False
        except ActuatorError as error:
            self._journal.conclude(decision, Objection("job-state", str(error)))
            return False
        self._execution.outage.succeeded()
        watch.user = found.user
        return self._is_allowed(decision, found) and self._is_still_open(decision, found.user)

    def _is_allowed(self, decision: Decision, found: Examination) -> bool:
        """True where what the scheduler showed, people and limits leave the decision alone; what does not is written down."""
        seen, context = found.seen, self._journal.context()
        mode = self._journal.settings.mode_of(decision.action, seen)
        self._journal.watch(decision.id).mode = mode
        if mode is Mode.SHADOW:
            reason = f"{decision.action.plural} are in shadow mode for {decision.target}"
            self._journal.conclude(decision, Objection("mode", reason, Outcome.SHADOWED), seen=seen)
        elif isinstance(found.verdict, Objection):
            self._journal.conclude(decision, found.verdict, seen=seen)
        elif wait := awaits_approval(decision, context, mode) or found.verdict:
            self._journal.wait(decision, wait)
        elif limit := limit_reached(decision, context, found.user):
            self._journal.defer(decision, limit)
        else:
            return True
        return False

    def _is_worth_asking(self, decision: Decision) -> bool:
        """False where guardrails, operators or limits forbid or delay the decision, whatever the scheduler would answer."""
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
        self._catch_up()
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
