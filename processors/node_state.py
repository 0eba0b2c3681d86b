"""State of a node: its recent findings, the attempts on it, and its GPUs."""

import msgspec

from schedmate_records import NodeFinding, Placement
from schedmate_records.bounds import LATEST

from .activity.node import NodeActivityState
from .budget import BudgetState
from .diagnose.nodes.corroborate import AFTER_S, BEFORE_S
from .diagnose.nodes.gpu import GpuMemory
from .keyed import KeyedState
from .new_lines import Numbering

KEPT_S = 3600.0
"""Findings are kept so long after they were seen, and placements so long after they ended."""
FINDINGS = 64
"""Findings kept, the newest."""
PLACEMENTS = 256
"""Placements kept: those that a scheduler reported first, then the newest."""
SILENT_S = 24 * 3600.0
"""A placement without a reported end ends so many seconds after its last record."""
SLACK_S = 60.0
"""Times of placements are exact to within so much."""


class ReportedFinding(msgspec.Struct):
    """A finding as it was seen first, and how often it was seen since."""

    finding: NodeFinding
    times: int = 1


class KnownPlacement(msgspec.Struct):
    """A placement, and whether healthy GPUs were reported at its end."""

    placement: Placement
    judged: bool = False

    def holds(self, time: float) -> bool:
        """Return whether what is seen on the node at `time` may concern the placement."""
        placement = self.placement
        end = placement.seen + SILENT_S if placement.until is None else placement.until + AFTER_S
        return placement.since - BEFORE_S - SLACK_S <= time <= end

    def lasts(self, time: float) -> bool:
        """Return whether the attempt is on the node at `time`."""
        placement = self.placement
        end = placement.seen + SILENT_S if placement.until is None else placement.until
        return placement.since - SLACK_S <= time <= end

    def newest(self) -> float:
        """Return the time of the placement's last record."""
        return self.placement.seen if self.placement.until is None else self.placement.until


class NodeState(KeyedState, kw_only=True, omit_defaults=True):
    """Everything remembered of one node.

    Attributes:
        node: The node.
        sources: How far each producer's log was read.
        findings: Lately seen, oldest first.
        rates: Times of events that count together, oldest first, by signature, device and link.
        placements: By `Placement.run`.
        gpus: The counters of each GPU as last seen.
        watched_since: From when on the GPUs were sampled without a gap.
        watched: Time of the newest sample.
        clock: Last time of the node's own clock. Placements come from jobs. A wrong time in one of them must not age the others.
        budget: How much new text of its logs is read.
        activity: What its GPUs do.
    """

    node: str
    sources: dict[str, Numbering] = {}
    findings: list[ReportedFinding] = []
    rates: dict[str, list[float]] = {}
    placements: dict[str, KnownPlacement] = {}
    gpus: dict[str, GpuMemory] = {}
    watched_since: float = 0.0
    watched: float = 0.0
    clock: float = 0.0
    budget: BudgetState = msgspec.field(default_factory=BudgetState)
    activity: NodeActivityState = msgspec.field(default_factory=NodeActivityState)

    def keep(self, one: ReportedFinding) -> None:
        """Remember a finding; what is too old or too much goes."""
        kept = [each for each in [*self.findings, one] if each.finding.time > one.finding.time - KEPT_S]
        self.findings = sorted(kept, key=lambda each: (each.finding.time, each.finding.id))[-FINDINGS:]

    def repeats(self, key: str, time: float, count: int, times: int, within_s: float) -> bool:
        """Note `count` events of `key`; return whether there were `times` of them within `within_s` seconds."""
        newest = [each for each in self.rates.pop(key, []) if abs(time - each) < within_s]
        self.rates[key] = [*newest, *[time] * min(count, times)][-times:]
        if len(self.rates) > 256:
            del self.rates[next(iter(self.rates))]
        return len(self.rates[key]) >= times

    def merge(self, placement: Placement) -> KnownPlacement:
        """Take in what is reported of a placement; return what is known of it now."""
        key = placement.run
        # The incarnation may become known after the first placement.
        unnamed = msgspec.structs.replace(placement, incarnation="").run
        before = self.placements.get(key) or self.placements.pop(unnamed, None)
        if before is not None:
            old = before.placement
            placement = msgspec.structs.replace(
                placement,
                since=min(placement.since, old.since),
                seen=max(placement.seen, old.seen),
                until=_end(old, placement),
                reported=placement.reported or old.reported,
                sluid=placement.sluid or old.sluid,
            )
        now = self.placements[key] = KnownPlacement(placement, before is not None and before.judged)
        newest = min(max(each.newest() for each in self.placements.values()), self.clock or LATEST)
        # A job that merely claims to be here pushes out no job that a scheduler reported.
        kept = sorted(
            self.placements.items(), key=lambda item: (item[1].placement.reported, item[1].newest(), item[0])
        )[-PLACEMENTS:]
        self.placements = {
            name: each
            for name, each in kept
            if each.newest() > newest - (SILENT_S if each.placement.until is None else KEPT_S)
        }
        return now


def _end(old: Placement, new: Placement) -> float | None:
    """Return when a placement ended, of which `new` is the later record; None while it lasts."""
    if new.until is not None or old.until is None:
        return new.until
    return None if new.seen >= old.until else old.until
