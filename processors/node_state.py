"""What is remembered of a node: what it said lately, which attempts are on it, how its GPUs were."""

import msgspec

from records import NodeFinding, NodeStay

from .budget import BudgetState
from .diagnose.nodes.gpu import GpuMemory
from .diagnose.nodes.window import AFTER_S, BEFORE_S
from .keyed import KeyedState
from .source import Numbering

KEPT_S = 3600.0
"""Findings are kept so long after they were seen, and stays so long after they ended."""
FINDINGS = 64
"""Findings kept, the newest."""
STAYS = 256
"""Stays kept, the newest."""
SILENT_S = 24 * 3600.0
"""A stay whose end nobody told is over so long after it was last heard of."""
SLACK_S = 60.0
"""Stays are told to within so much."""


class Told(msgspec.Struct):
    """A finding as it was seen first, and how often it was seen since."""

    finding: NodeFinding
    times: int = 1


class StayMemory(msgspec.Struct):
    """What is known of a stay, and whether it was said that the GPUs were calm at its end."""

    stay: NodeStay
    judged: bool = False

    def holds(self, time: float) -> bool:
        """Return whether what is seen on the node at `time` may concern the stay."""
        stay = self.stay
        end = stay.seen + SILENT_S if stay.until is None else stay.until + AFTER_S
        return stay.since - BEFORE_S - SLACK_S <= time <= end

    def newest(self) -> float:
        """Return when the stay was last heard of."""
        return self.stay.seen if self.stay.until is None else self.stay.until


class NodeState(KeyedState, kw_only=True):
    """Everything remembered of one node.

    Attributes:
        node: The node.
        sources: How far each producer's log was read.
        findings: Lately seen, oldest first.
        stays: By job and attempt.
        gpus: The counters of each GPU as last seen.
        watched_since: From when on the GPUs were sampled without a gap.
        watched: Time of the newest sample.
        budget: How much new text of its logs is read.
    """

    node: str
    sources: dict[str, Numbering] = {}
    findings: list[Told] = []
    stays: dict[str, StayMemory] = {}
    gpus: dict[str, GpuMemory] = {}
    watched_since: float = 0.0
    watched: float = 0.0
    budget: BudgetState = msgspec.field(default_factory=BudgetState)

    def keep(self, one: Told) -> None:
        """Remember a finding; what is too old or too much goes."""
        newest = max([one.finding.time, *(each.finding.time for each in self.findings)])
        kept = [each for each in [*self.findings, one] if each.finding.time > newest - KEPT_S]
        self.findings = sorted(kept, key=lambda each: (each.finding.time, each.finding.id))[-FINDINGS:]

    def merge(self, stay: NodeStay) -> StayMemory:
        """Take in what is said of a stay; return what is known of it now."""
        key = f"{stay.job}/{stay.attempt}"
        before = self.stays.get(key)
        if before is not None:
            old = before.stay
            stay = msgspec.structs.replace(
                stay,
                since=min(stay.since, old.since),
                seen=max(stay.seen, old.seen),
                until=old.until if stay.until is None else stay.until,
            )
        now = self.stays[key] = StayMemory(stay, before is not None and before.judged)
        newest = max(each.newest() for each in self.stays.values())
        kept = sorted(self.stays.items(), key=lambda item: (item[1].newest(), item[0]))[-STAYS:]
        self.stays = {
            name: each
            for name, each in kept
            if each.newest() > newest - (SILENT_S if each.stay.until is None else KEPT_S)
        }
        return now
