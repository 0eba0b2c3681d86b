"""From what was found of jobs to decisions about them; and what later findings mean for decisions made before."""

import msgspec
import structlog

from schedmate_records import (
    Action,
    Alarm,
    AlarmKind,
    Checkpoint,
    CheckpointState,
    Decision,
    Failure,
    InvalidRecord,
    Outcome,
    Quota,
    Slowdown,
    decode,
    encode,
)

from .guardrails import Objection
from .journal import Journal
from .ledger import WITHDRAWN, LedgerEntry
from .policies import OF_ALARMS, OF_FAILURES, drain, hold, propose

log = structlog.get_logger(__name__)


class Proposals:
    """Asks the policies about each finding. Never asks the scheduler."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def on_slowdown(self, slowdown: Slowdown) -> None:
        """Propose what a slowdown leads to."""
        for decision in propose(slowdown, self._journal.settings):
            self._adopt(decision)

    def on_alarm(self, alarm: Alarm) -> None:
        """Propose what an alarm leads to; retract what it led to where it is over."""
        for decision in propose(alarm, self._journal.settings):
            self._adopt(decision)
        self.retract(alarm)

    def retract(self, alarm: Alarm) -> None:
        """Conclude decisions on a hang or on idle GPUs that are over, where nothing was done about them yet."""
        policy = OF_ALARMS.get(alarm.kind)
        if policy is None or alarm.raised:
            return
        over = "the hang is" if alarm.kind is AlarmKind.HANG else "the idle time of its GPUs is"
        for entry in self._journal.ledger.about(alarm.job, alarm.attempt, alarm.incarnation):
            about = entry.decision
            if about and about.policy == policy and entry.untouched and about.time <= alarm.time:
                self._journal.conclude(about, Objection("alarm", f"{over} over: {alarm.detail}"))

    def on_quota(self, quota: Quota) -> None:
        """Propose which jobs to hold and which to release, unless the quota is no longer in force."""
        if not quota.time <= self._journal.clock() < quota.until:
            return
        for decision in hold.decide(quota, self._journal.settings):
            self._adopt(decision)

    def on_failure(self, failure: Failure) -> None:
        """Propose what follows from the newest revision, and retract what followed from an older one."""
        if self._is_ignored(failure):
            return
        if not self._journal.verdicts.remember(failure):
            self._journal.metrics.repeats.inc()
            return
        proposals = self._proposals(failure)
        repeated = {
            entry.policy
            for entry in self._earlier(failure)
            if self._reconsider(entry, proposals.get(entry.policy), failure)
        }
        self._journal.metrics.repeats.inc(len(repeated))
        for policy, proposal in proposals.items():
            if policy not in repeated and not self._is_proposed(proposal):
                self._adopt(self._renewed(proposal, failure))

    def remember(self, failure: Failure) -> None:
        """Note a verdict, and retract what an older revision led to; what this one leads to is proposed when it is accepted."""
        if self._is_ignored(failure):
            return
        if not self._journal.verdicts.remember(failure):
            return
        # Decisions of this revision stay: users who blame a node, for example, are counted once.
        earlier = [each for each in self._earlier(failure) if each.decision and each.decision.cause_id != failure.id]
        proposals = self._proposals(failure) if earlier else {}
        for entry in earlier:
            self._reconsider(entry, proposals.get(entry.policy), failure)

    def on_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Note a durable checkpoint; a job that may be evicted once it has one is looked at."""
        self._journal.saves.remember(checkpoint)
        if checkpoint.state is CheckpointState.DURABLE:
            for decision_id in self._journal.ledger.open_about(checkpoint.job):
                self._journal.watch(decision_id).saved = max(checkpoint.since, self._journal.watch(decision_id).saved)
            self._journal.look_soon(checkpoint.job)

    def _proposals(self, failure: Failure) -> dict[str, Decision]:
        """Return what a verdict leads to, by policy."""
        users = self._journal.ledger.users_against(failure.node, self._journal.clock()) if failure.node else ()
        saved = self._journal.saves.path(failure.job, failure.attempt, failure.incarnation)
        return {each.policy: each for each in propose(failure, self._journal.settings, users, saved)}

    def _is_ignored(self, failure: Failure) -> bool:
        """Return whether a language model took part in a verdict and is not trusted: the rules' own verdict before it decides."""
        return bool(failure.opinions) and not self._journal.settings.trust_model

    def _earlier(self, failure: Failure) -> list[LedgerEntry]:
        """Return what verdicts on the same attempt led to. A language model does not retract a drain."""
        about = self._journal.ledger.about(failure.job, failure.attempt, failure.incarnation)
        policies = OF_FAILURES - {drain.POLICY} if failure.opinions else OF_FAILURES
        return [entry for entry in about if entry.policy in policies]

    def _is_proposed(self, proposal: Decision) -> bool:
        """True where another job's failure led to the same drain a short while ago."""
        if proposal.action is not Action.DRAIN:
            return False
        earlier = self._journal.ledger.drain_proposed(
            proposal.node, proposal.time - self._journal.settings.node_cooldown_seconds
        )
        return earlier not in ("", proposal.id)

    def _renewed(self, proposal: Decision, failure: Failure) -> Decision:
        """Return `proposal`, under a new id where an earlier revision of the verdict led to it and a later one withdrew it.

        A decision that a person rejected is not proposed again.
        """
        if not self._journal.ledger.is_withdrawn(proposal.id) or self._journal.commands.rejection(proposal):
            return proposal
        return msgspec.structs.replace(proposal, id=f"{proposal.id}~r{failure.revision}")

    def _reconsider(self, entry: LedgerEntry, proposal: Decision | None, failure: Failure) -> bool:
        """Compare an earlier decision about the same attempt with a new revision. True where the result is the same."""
        earlier = entry.decision
        assert earlier is not None
        same = proposal is not None and (earlier.cause, earlier.exclude_nodes, earlier.node) == (
            proposal.cause,
            proposal.exclude_nodes,
            proposal.node,
        )
        if entry.untouched:
            if proposal is None:
                reason = f"the verdict was retracted: revision {failure.revision} has {failure.error_type}"
                self._journal.conclude(earlier, Objection(WITHDRAWN, f"{reason} ({failure.message})"))
            elif not same:
                self._journal.conclude(earlier, Objection(WITHDRAWN, f"replaced by {proposal.id}"))
            elif failure.final:
                self._journal.look_soon(earlier.job)
        # What was refused may be proposed again for another root line; the guardrails will look at it afresh.
        return same and (entry.result is None or entry.result.outcome is not Outcome.REFUSED)

    def _adopt(self, decision: Decision) -> None:
        """Publish a decision of our own, unless it is known, or untrusted names would make it unreadable."""
        try:
            decode(Decision, encode(decision))
        except InvalidRecord as error:
            log.warning("not_decided", error=str(error))
            return
        if self._journal.ledger.knows(decision.id):
            self._journal.metrics.repeats.inc()
            return
        self._journal.propose(decision)
