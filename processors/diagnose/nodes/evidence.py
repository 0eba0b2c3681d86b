"""Weighs a job's verdicts against its nodes' findings as both arrive, in any order."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from prometheus_client import Counter

from schedmate_records import Failure, NodeFinding, Severity

from ..catalogue import Signature
from .corroborate import corroborate

MAX_FINDINGS = 16
"""Maximum number of fatal findings of an attempt, and of others; the newest are kept."""


class NodeEvidenceState(msgspec.Struct):
    """State of an attempt.

    Attributes:
        findings: The findings that were reported to it.
        own: The newest verdict that the job's own lines make.
        weighed: The verdict after the findings; None if they change nothing.
    """

    findings: list[NodeFinding] = []
    own: Failure | None = None
    weighed: Failure | None = None


class NodeEvidenceMetrics:
    """Counters of verdicts that nodes' evidence changed."""

    def __init__(self) -> None:
        self.confirmed = Counter(
            "schedmate_node_evidence_confirmed", "Verdicts that node evidence confirms.", registry=None
        )
        self.contradicted = Counter(
            "schedmate_node_evidence_contradicted", "Verdicts that node evidence contradicts.", registry=None
        )
        self.alone = Counter("schedmate_node_evidence_alone", "Verdicts from node evidence alone.", registry=None)


class NodeEvidence:
    """Weighs verdicts. The result follows from the newest verdict and the findings alone, whichever came first."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        self._signatures: Mapping[str, Signature] = {one.name: one for one in signatures}
        self.metrics = NodeEvidenceMetrics()

    def on_verdicts(self, verdicts: Sequence[Failure], state: NodeEvidenceState) -> Failure | None:
        """Note the verdicts that the job's own lines make; return the last as the findings change it."""
        if not verdicts:
            return None
        state.own, state.weighed = verdicts[-1], None
        return self._weigh(state)

    def on_finding(self, finding: NodeFinding, state: NodeEvidenceState) -> Failure | None:
        """Note a finding; return the verdict that it changes."""
        # A finding is reported again with a higher count when it repeats, and when other jobs come to its node or leave.
        same = [one for one in state.findings if (one.place, one.signature) == (finding.place, finding.signature)]
        known = (finding.times, finding.jobs)
        if any(one.times > finding.times or (one.times, one.jobs) == known for one in same):
            return None
        state.findings = _newest([*(one for one in state.findings if one not in same), finding])
        return self._weigh(state)

    def _weigh(self, state: NodeEvidenceState) -> Failure | None:
        if state.own is None:
            return None
        result = corroborate(state.own, state.findings, self._signatures)
        if result is None:  # the finding that changed the verdict does not count any more
            before, state.weighed = state.weighed, None
            return state.own if before is not None else None
        if state.weighed is not None and result.id == state.weighed.id:
            return None
        state.weighed = result
        metrics = self.metrics
        counted = (
            metrics.confirmed
            if result.confirmed_by
            else metrics.contradicted
            if result.contradicted_by
            else metrics.alone
        )
        counted.inc()
        return result


def _newest(findings: Sequence[NodeFinding]) -> list[NodeFinding]:
    """Return the newest fatal findings and the newest others. The result does not depend on the order in which they came."""
    ordered = sorted(findings, key=lambda one: (one.time, one.id))
    fatal = [one for one in ordered if one.severity is Severity.FATAL][-MAX_FINDINGS:]
    return [*fatal, *[one for one in ordered if one.severity is not Severity.FATAL][-MAX_FINDINGS:]]
