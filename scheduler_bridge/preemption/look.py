"""Looks at the queue now and then, and proposes the evictions that the policy wants."""

import time
from collections import Counter

import structlog

from schedmate_records import Action, Decision, Outcome
from streams.resilience import Outage

from ..guardrails import stopped
from ..journal import Journal
from ..ledger import LedgerEntry
from ..schedulers import Actuator, ActuatorError, SchedulerAway
from .losses import DAY
from .policy import POLICY, PreemptionFacts, VictimChoice, decide, least_loss

log = structlog.get_logger(__name__)


class Preemption:
    """Evicts jobs for others that wait, where the operator named classes for that.

    Args:
        outage: Is notified whether the scheduler answers.
        choose: Chooses the victims.
    """

    def __init__(self, actuator: Actuator, journal: Journal, outage: Outage, choose: VictimChoice = least_loss) -> None:
        self._actuator, self._journal = actuator, journal
        self._outage, self._choose = outage, choose
        self._next = 0.0
        settings = journal.settings
        # Where no signal can be sent, waiting would give a job nothing but the chance of a checkpoint that it saves anyway.
        self._settings = settings if actuator.can_signal() else settings.model_copy(update={"evict_grace_seconds": 0.0})
        self._works = bool(journal.settings.evict_for and journal.settings.evictable)

    def look(self) -> float | None:
        """Propose what follows from the queue, if it is time to look.

        Returns:
            Seconds until the next look; None where no job may be evicted for another.
        """
        if not self._works or not self._actuator.supports(Action.EVICT):
            return None
        if time.monotonic() >= self._next:
            began = time.monotonic()
            self._propose()
            # At least a second between two looks, and at most a twentieth of the time for them.
            self._next = time.monotonic() + max(1.0, 19 * (time.monotonic() - began))
        return max(0.0, self._next - time.monotonic())

    def _propose(self) -> None:
        if stopped(self._journal.context()):
            return  # decisions that must not be carried out now would expire
        try:
            queue = self._actuator.queue()
        except SchedulerAway as error:
            self._journal.metrics.scheduler_away.inc()
            self._outage.failed(error)
            return
        except ActuatorError as error:
            log.warning("queue_not_read", error=str(error))
            return
        self._outage.succeeded()
        now = self._journal.clock()
        for decision in decide(queue, self._facts(now), self._settings, now, self._choose):
            if not self._journal.ledger.knows(decision.id):
                self._journal.propose(decision)

    def _facts(self, now: float) -> PreemptionFacts:
        ledger, settings = self._journal.ledger, self._journal.settings
        newest = [
            entry for entry in ledger.evictions() if _time(entry) > now - max(DAY, settings.evict_cooldown_seconds)
        ]
        tried = [entry.tried for entry in newest if entry.tried]
        lately = now - settings.evict_cooldown_seconds
        cooling = {result.job for result in tried if result.time > lately}
        cooling |= {decision.job for decision in ledger.pending() + ledger.unfinished()}
        recent = ledger.recent(now)
        left = settings.actions_per_hour - len(recent)
        by_user = Counter(result.user for result in recent)
        return PreemptionFacts(
            saves=self._journal.saves,
            evictions=Counter(result.job for result in tried if result.time > now - DAY),
            cooling=cooling,
            served={
                entry.decision.cause_id
                for entry in newest
                if entry.decision and entry.policy == POLICY and _time(entry) > lately and not _came_to_nothing(entry)
            },
            room={user: min(left, settings.actions_per_user_hour - count) for user, count in by_user.items()},
            room_for_others=min(left, settings.actions_per_user_hour),
        )


def _time(entry: LedgerEntry) -> float:
    decision: Decision | None = entry.decision
    return decision.time if decision else 0.0


def _came_to_nothing(entry: LedgerEntry) -> bool:
    """True where nothing was done: the job for which it was decided may ask again."""
    return entry.result is not None and entry.result.outcome in (Outcome.REFUSED, Outcome.EXPIRED)
