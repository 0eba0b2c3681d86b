"""What a job's nodes say, held against its verdicts as both come in, in any order."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from prometheus_client import Counter

from schedmate_records import Failure, NodeFinding, Severity

from ..catalogue import Signature
from .corroborate import corroborate

KEPT = 16
"""Findings kept of an attempt: the newest fatal ones, and as many others."""


class NodeEvidenceState(msgspec.Struct):
    """What is remembered of an attempt.

    Attributes:
        findings: What was reported to it.
        own: The newest verdict that the job's own words make.
        weighed: What the findings made of that; None where they had nothing to say.
    """

    findings: list[NodeFinding] = []
    own: Failure | None = None
    weighed: Failure | None = None


class NodeEvidenceMetrics:
    """What nodes' evidence did to verdicts."""

    def __init__(self) -> None:
        self.confirmed = Counter(
            "schedmate_node_evidence_confirmed", "Verdicts that node evidence confirms.", registry=None
        )
        self.contradicted = Counter(
            "schedmate_node_evidence_contradicted", "Verdicts that node evidence contradicts.", registry=None
        )
        self.alone = Counter("schedmate_node_evidence_alone", "Verdicts from node evidence alone.", registry=None)


class NodeEvidence:
    """Weighs verdicts. The last outcome follows from the job's last verdict and the findings alone, whichever came first."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        self._signatures: Mapping[str, Signature] = {one.name: one for one in signatures}
        self.metrics = NodeEvidenceMetrics()

    def on_verdicts(self, verdicts: Sequence[Failure], state: NodeEvidenceState) -> Failure | None:
        """Note the verdicts that the job's own words make; return what the nodes' findings make of the last."""
        for verdict in verdicts:
            state.own, state.weighed = verdict, None
        return self._weigh(state) if verdicts else None

    def on_finding(self, finding: NodeFinding, state: NodeEvidenceState) -> Failure | None:
        """Take a finding; return the verdict that it changes."""
        # A finding that came again is reported again, with a higher count; so is one whose job has, or lost, company on the node.
        again = [one for one in state.findings if (one.place, one.signature) == (finding.place, finding.signature)]
        if any(_known(one, finding) for one in again):
            return None
        state.findings = _newest([*(one for one in state.findings if one not in again), finding])
        return self._weigh(state)

    def _weigh(self, state: NodeEvidenceState) -> Failure | None:
        if state.own is None:
            return None
        outcome = corroborate(state.own, state.findings, self._signatures)
        if outcome is None:  # what spoke for another verdict does so no longer
            before, state.weighed = state.weighed, None
            return state.own if before is not None else None
        if state.weighed is not None and outcome.id == state.weighed.id:
            return None
        state.weighed = outcome
        self._count(outcome)
        return outcome

    def _count(self, outcome: Failure) -> None:
        if outcome.confirmed_by:
            self.metrics.confirmed.inc()
        elif outcome.contradicted_by:
            self.metrics.contradicted.inc()
        else:
            self.metrics.alone.inc()


def _known(one: NodeFinding, finding: NodeFinding) -> bool:
    """Return whether `finding`, which was reported before as `one`, says nothing new."""
    return one.times > finding.times or (one.times, one.jobs) == (finding.times, finding.jobs)


def _newest(findings: Sequence[NodeFinding]) -> list[NodeFinding]:
    """Return the newest findings of both sorts. Which are kept does not depend on the order in which they came."""
    ordered = sorted(findings, key=lambda one: (one.time, one.id))
    fatal = [one for one in ordered if one.severity is Severity.FATAL][-KEPT:]
    return [*fatal, *[one for one in ordered if one.severity is not Severity.FATAL][-KEPT:]]
