"""Compares what the scheduler shows of a decision's job or node with what the decision needs."""

from dataclasses import dataclass, replace

from schedmate_records import Action, Decision

from .act_keys import act_key
from .guardrails import Objection, Wait, objection_of_node, objection_of_state
from .journal import Journal
from .schedulers import Actuator, JobView, NodeView


@dataclass(frozen=True, slots=True)
class Examination:
    """Result of an examination.

    Attributes:
        verdict: What prevents or delays the action; None for nothing.
        seen: What the scheduler showed; None where it was not asked, or knows no such thing.
        user: In whose favour the decision is.
    """

    verdict: Objection | Wait | None
    seen: JobView | NodeView | None = None
    user: str = ""


def examine(actuator: Actuator, journal: Journal, decision: Decision, *, again: bool = False) -> Examination:
    """Ask the scheduler about a decision.

    Args:
        actuator: The scheduler.
        journal: What is known of decisions.
        decision: What should be done.
        again: It was begun before, and cut off.

    Raises:
        ActuatorError: The scheduler cannot be asked, or does not answer this.
    """
    if decision.action is Action.NOTIFY:
        return Examination(None)
    if decision.action.on_node:
        nodes, now = actuator.nodes(decision.node), journal.clock()
        users = journal.ledger.users_against(decision.node, now)
        verdict = objection_of_node(decision, nodes, users, journal.settings, now)
        return Examination(verdict, next((each for each in nodes if each.node == decision.node), None))
    job = actuator.job(decision.job)
    beneficiary = actuator.job(decision.beneficiary) if decision.beneficiary else None
    # What a job prints leads to an action in its own favour, or in that of the job that was slowed or waits.
    favoured = beneficiary or job
    judged = job
    # The key of these actions is stored at the scheduler before they are carried out, so it alone proves nothing.
    if (
        job
        and again
        and decision.action in (Action.EVICT, Action.CANCEL, Action.CANCEL_PACKING, Action.HOLD, Action.RELEASE)
    ):
        judged = replace(job, acts=tuple(key for key in job.acts if key != act_key(decision)))
    verdict = objection_of_state(decision, judged, beneficiary)
    return Examination(verdict, job, favoured.user if favoured else "")
