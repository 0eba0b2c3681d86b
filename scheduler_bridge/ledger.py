"""Ledger of decisions and results: a fold over the history of `decisions` and `decision-results`.

The order of the history does not matter, nor how often a record is seen: the ledger is the same.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field

from schedmate_records import Action, Decision, DecisionResult, Outcome, same_incarnation

KEPT = 86400.0
"""Seconds after its expiry in which a decision that was never tried is still known. Seen again later, it is too late anyway."""
HOUR = 3600.0  # period of the hourly limits, in seconds
WITHDRAWN = "verdict"
"""Prefix of the result of a decision that a later revision of its verdict withdrew or replaced."""


@dataclass(slots=True)
class LedgerEntry:
    """One decision's life. `decision` is None while only results of it were seen."""

    decision: Decision | None = None
    results: dict[Outcome, DecisionResult] = field(default_factory=dict)

    @property
    def policy(self) -> str:
        """The policy that decided; empty where the decision was not seen."""
        return self.decision.policy if self.decision else ""

    @property
    def result(self) -> DecisionResult | None:
        """The final result; the earliest, should two have been written."""
        final = [result for outcome, result in self.results.items() if outcome.final]
        return min(final, key=lambda result: (result.time, result.outcome), default=None)

    @property
    def untouched(self) -> bool:
        """True while nothing was done about it, and something still may be."""
        return Outcome.STARTED not in self.results and self.result is None

    @property
    def tried(self) -> DecisionResult | None:
        """The record of when it was tried; None where nothing was done about it."""
        tried = (Outcome.STARTED, Outcome.DONE, Outcome.FAILED, Outcome.UNVERIFIED)
        found = next((self.results[outcome] for outcome in tried if outcome in self.results), None)
        return None if found is None or found.action is Action.NOTIFY else found


class Ledger:
    """All decisions that are known, by id."""

    def __init__(self) -> None:
        self._entries: dict[str, LedgerEntry] = {}
        self._open: dict[str, None] = {}
        self._tried: dict[str, DecisionResult] = {}
        self._tried_by_time: list[tuple[float, str]] = []
        self._by_job: dict[str, set[str]] = {}
        self._drains: dict[str, dict[str, None]] = {}
        self._evictions: dict[str, None] = {}
        self._continues: dict[str, tuple[str, int]] = {}

    def remember(self, record: Decision | DecisionResult) -> None:
        """Take in one record of the history."""
        if isinstance(record, Decision):
            entry = self._entries.setdefault(record.id, LedgerEntry())
            entry.decision = entry.decision or record
            key = record.id
            for job in {entry.decision.job, entry.decision.beneficiary} - {""}:
                self._by_job.setdefault(job, set()).add(key)
            if entry.decision.action is Action.DRAIN:
                self._drains.setdefault(entry.decision.node, {})[key] = None
            elif entry.decision.action is Action.EVICT:
                self._evictions[key] = None
        else:
            entry = self._entries.setdefault(record.decision_id, LedgerEntry())
            entry.results.setdefault(record.outcome, record)
            key = record.decision_id
            self._note_tried(key, entry.tried)
            if (successor := record.seen.get("successor", "")) and successor != record.job:
                self._continues[successor] = record.job, record.attempt
        if entry.result is None:
            self._open[key] = None
        else:
            self._open.pop(key, None)

    def _note_tried(self, key: str, tried: DecisionResult | None) -> None:
        before = self._tried.get(key)
        if tried is None or tried is before:
            return
        if before is not None:
            self._tried_by_time.remove((before.time, key))
        insort(self._tried_by_time, (tried.time, key))
        self._tried[key] = tried

    def knows(self, decision_id: str) -> bool:
        """Was the decision seen before?"""
        return decision_id in self._entries

    def is_withdrawn(self, decision_id: str) -> bool:
        """Return whether a later revision of its verdict withdrew a decision, and nothing was done about it."""
        entry = self._entries.get(decision_id)
        result = entry.result if entry else None
        return result is not None and result.outcome is Outcome.REFUSED and result.detail.startswith(f"{WITHDRAWN}: ")

    def result(self, decision_id: str, outcome: Outcome) -> DecisionResult | None:
        """Return the record of `outcome` of a decision; None where none was written."""
        entry = self._entries.get(decision_id)
        return entry.results.get(outcome) if entry else None

    def started(self, decision_id: str) -> DecisionResult | None:
        """Return the record that the decision is being carried out; None where no bridge has begun to."""
        entry = self._entries.get(decision_id)
        return entry.results.get(Outcome.STARTED) if entry else None

    def lineage(self, job: str) -> str:
        """Return the first of the jobs that a job continues: where the scheduler takes no old job back, the bridge submits new ones."""
        seen = {job}
        while (before := self._continues.get(job)) and before[0] not in seen:
            job = before[0]
            seen.add(job)
        return job

    def attempt_before(self, job: str, attempt: int) -> tuple[str, int] | None:
        """Return the job and the number of the attempt before one, should that have had another id; None for the first."""
        return (job, attempt - 1) if attempt > 0 else self._continues.get(job)

    def users_against(self, node: str, now: float) -> frozenset[str]:
        """Return the users whose jobs were restarted away from a node within an hour: the scheduler showed that each had failed."""
        known = ((tried, self._entries[tried.decision_id].decision) for tried in self.recent(now))
        return frozenset(
            tried.user
            for tried, decision in known
            if tried.action is Action.RESTART and tried.user and decision and node in decision.exclude_nodes
        )

    def drain_proposed(self, node: str, since: float) -> str:
        """Return the id of a decision to drain a node for a cause after `since` that was not refused; empty for none."""
        for key in self._drains.get(node, ()):
            entry = self._entries[key]
            refused = entry.result is not None and entry.result.outcome is Outcome.REFUSED
            if entry.decision and entry.decision.time > since and not refused:
                return key
        return ""

    def evictions(self) -> Iterator[LedgerEntry]:
        """Yield the lives of all decisions to evict a job."""
        yield from (self._entries[key] for key in self._evictions)

    def about(self, job: str, attempt: int, incarnation: str = "") -> list[LedgerEntry]:
        """Return the lives of the decisions about one attempt of a job."""
        known = [self._entries[key] for key in sorted(self._by_job.get(job, ()))]
        return [
            one
            for one in known
            if one.decision
            and (one.decision.job, one.decision.attempt) == (job, attempt)
            and same_incarnation(one.decision.incarnation, incarnation)
        ]

    def open(self) -> set[str]:
        """Return the ids of the decisions about which something may still be done."""
        return {key for key in self._open if self._entries[key].decision}

    def open_about(self, job: str) -> list[str]:
        """Return the ids of the decisions that move a job, or favour it, and about which something may still be done."""
        return [key for key in self._by_job.get(job, ()) if key in self._open and self._entries[key].decision]

    def is_open(self, decision_id: str) -> bool:
        """May something still be done about the decision?"""
        return decision_id in self._open

    def is_pending(self, decision_id: str) -> bool:
        """Is the decision among those about which nothing was done yet?"""
        return decision_id in self._open and self._entries[decision_id].untouched

    def pending(self) -> list[Decision]:
        """Return the decisions about which nothing was done yet, the oldest first."""
        waiting = [self._entries[key] for key in self._open]
        return sorted((e.decision for e in waiting if e.decision and e.untouched), key=lambda d: (d.time, d.id))

    def unfinished(self) -> list[Decision]:
        """Return the decisions that were started and whose result is missing: a crash came between."""
        waiting = [self._entries[key] for key in self._open]
        return [entry.decision for entry in waiting if entry.decision and not entry.untouched]

    def tried(self) -> Iterator[DecisionResult]:
        """Yield one record for each decision that was tried, whatever became of it."""
        yield from self._tried.values()

    def recent(self, now: float) -> list[DecisionResult]:
        """Return those that were tried within an hour."""
        begin = bisect_right(self._tried_by_time, (now - HOUR, "\U0010ffff"))
        end = bisect_left(self._tried_by_time, (now + HOUR, ""))
        return [self._tried[key] for _, key in self._tried_by_time[begin:end]]

    def forget(self, now: float) -> None:
        """Drop what is over, was never tried and expired long ago. What was tried counts against budgets for ever."""
        old = [
            key
            for key, entry in self._entries.items()
            if entry.result
            and not entry.tried
            and (entry.decision or entry.result).time + KEPT < now
            and (entry.decision is None or entry.decision.expires + KEPT < now)
        ]
        for key in old:
            decision = self._entries.pop(key).decision
            self._evictions.pop(key, None)
            for job in {decision.job, decision.beneficiary} - {""} if decision else ():
                self._by_job[job].discard(key)
                if not self._by_job[job]:
                    del self._by_job[job]
            if decision and decision.action is Action.DRAIN:
                del self._drains[decision.node][key]
                if not self._drains[decision.node]:
                    del self._drains[decision.node]
