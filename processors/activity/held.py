"""The GPUs that an attempt holds, on all its nodes, as the nodes last reported them."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from schedmate_records import GpuActivity, GpuSpan, GpuState

NODES = 2048
"""Nodes that are followed; a job of more is one of whose GPUs nothing is known."""
STALE_S = 720.0
"""Seconds after which a node's report is out of date: a node reports at least every ten minutes."""


class StillGpu(msgspec.Struct, frozen=True, array_like=True):
    """A GPU that is idle or vacant, and since when. `rank` as in `GpuSpan`."""

    gpu: int
    since: float
    vacant: bool = False
    rank: int | None = None


class NodeGpus(msgspec.Struct, array_like=True):
    """The GPUs of one node.

    Attributes:
        time: Until when that is known; 0 before the first report of the node.
        state: What the GPUs with a process do: `working` where one works, else `unknown` where one is not known, else `waiting`
            where one waits.
        since: From when on all of them do nothing else.
        held: How many they are.
        still: Those idle or vacant.
    """

    time: float = 0.0
    state: GpuState = GpuState.UNKNOWN
    since: float = 0.0
    held: int = 0
    still: list[StillGpu] = []


@dataclass(frozen=True)
class GpuEvidence:
    """The state of the GPUs of all nodes together.

    Attributes:
        state: `working` where one works, `waiting` or `idle` where none does and all are known, else `unknown`.
        since: From when on without an exception.
        until: Until when that is known: the oldest report of all nodes.
    """

    state: GpuState
    since: float = 0.0
    until: float = 0.0


class HeldGpus(msgspec.Struct):
    """State of an attempt's GPUs.

    Attributes:
        nodes: By name; nodes that run the attempt and have not reported are included.
        each: GPUs that the attempt holds on a node, as its scheduler reports it; null where it does not.
        many: It has more nodes than are followed.
        hours: GPU-hours of idle spans that are over.
    """

    nodes: dict[str, NodeGpus] = {}
    each: float | None = None
    many: bool = False
    hours: float = 0.0

    def runs_on(self, node: str) -> None:
        """Note that the attempt runs on `node`."""
        if node and node not in self.nodes:
            if len(self.nodes) >= NODES:
                self.many = True
            else:
                self.nodes[node] = NodeGpus()

    def add_report(self, activity: GpuActivity, idle_s: float) -> bool:
        """Add the report of a node; return False where a newer one is known. Spans idle for `idle_s` count as lost hours."""
        before = self.nodes.get(activity.node)
        if before is None and len(self.nodes) >= NODES:
            self.many = True
            return False
        if before is not None:
            if activity.time <= before.time:
                return False
            self.hours += _over_hours(before, activity, self.long_idle(before, idle_s))
        self.nodes[activity.node] = _node(activity)
        return True

    def evidence(self) -> GpuEvidence:
        """Return the state of the GPUs of all nodes together."""
        if any(node.state is GpuState.WORKING for node in self.nodes.values()):
            newest = max(node.time for node in self.nodes.values() if node.state is GpuState.WORKING)
            return GpuEvidence(GpuState.WORKING, until=newest)
        states = {node.state for node in self.nodes.values()}
        if not states or self.many or GpuState.UNKNOWN in states:
            return GpuEvidence(GpuState.UNKNOWN)
        return GpuEvidence(
            GpuState.WAITING if GpuState.WAITING in states else GpuState.IDLE,
            since=max(node.since for node in self.nodes.values()),
            until=min(node.time for node in self.nodes.values()),
        )

    def works_at(self, time: float) -> bool:
        """Return whether a GPU is known to work at `time`."""
        now = self.evidence()
        return now.state is GpuState.WORKING and now.until >= time

    def works(self, time: float) -> bool:
        """Return whether a GPU was known to work lately, seen from `time`."""
        now = self.evidence()
        return now.state is GpuState.WORKING and time - now.until <= STALE_S

    def idle_ones(self) -> Iterator[tuple[str, StillGpu]]:
        """Yield the GPUs with a process that are idle, and their nodes."""
        for name, node in self.nodes.items():
            yield from ((name, each) for each in node.still if not each.vacant)

    def lost_hours(self, idle_s: float) -> float:
        """Return the GPU-hours of all spans of at least `idle_s`, those that last included."""
        lasting = sum(node.time - each.since for node in self.nodes.values() for each in self.long_idle(node, idle_s))
        return self.hours + lasting / 3600

    def long_idle(self, node: NodeGpus, idle_s: float) -> list[StillGpu]:
        """Return the GPUs of `node` that have been idle for `idle_s` at least; vacant ones as far as the attempt holds so many."""
        vacant = sorted((each for each in node.still if each.vacant), key=lambda each: each.since)
        own = 0 if self.each is None else max(int(self.each) - node.held, 0)
        idle = [each for each in node.still if not each.vacant] + vacant[:own]
        return [each for each in idle if node.time - each.since >= idle_s]


def _node(activity: GpuActivity) -> NodeGpus:
    held = [each for each in activity.gpus if each.state is not GpuState.VACANT]
    states = {each.state for each in held}
    order = (GpuState.WORKING, GpuState.UNKNOWN, GpuState.WAITING, GpuState.IDLE)
    return NodeGpus(
        time=activity.time,
        state=next((state for state in order if state in states), GpuState.UNKNOWN),
        since=max((each.since for each in held), default=activity.time),
        held=len(held),
        still=[
            StillGpu(each.gpu, each.since, each.state is GpuState.VACANT, each.rank)
            for each in activity.gpus
            if each.state in (GpuState.IDLE, GpuState.VACANT)
        ],
    )


def _over_hours(before: NodeGpus, activity: GpuActivity, idle: list[StillGpu]) -> float:
    """Return the GPU-hours of those among `idle` that are no longer idle in `activity`, or began anew."""
    now = {each.gpu: each for each in activity.gpus}
    return sum(max(_ended(each, now.get(each.gpu), before, activity) - each.since, 0.0) for each in idle) / 3600


def _ended(was: StillGpu, now: GpuSpan | None, before: NodeGpus, activity: GpuActivity) -> float:
    if now is None or now.state is GpuState.UNKNOWN:
        return before.time
    if now.state in (GpuState.IDLE, GpuState.VACANT) and now.since == was.since:
        return was.since  # it goes on, and counts while it does
    return min(now.since, activity.time)
