"""On which nodes an attempt is, for the nodes' evidence: a record on `placements` for each node, again every hour, and at the end.

A scheduler's event names all nodes of an attempt. A chunk, or an event of a pipe, names the one that it came from. Anyone with the job's
key can write those, so each new node that they name costs one of the job's claims, of which few come back.
"""

from collections.abc import Iterable, Sequence

import msgspec
from prometheus_client import Counter

from schedmate_records import EventKind, JobEvent, Placement, Position

from .classified_chunk import ClassifiedChunk
from .stage import Stage

REPEATED_A_RECORD = 2
"""Placements that are repeated, at most, for each record since the last time: times of records may be forged, their number is not."""
NODES = 8192
"""Nodes that an attempt may have by its scheduler's events, and as many by claims; further ones are not followed."""
CLAIMS = 4096.0
"""Claims of nodes that a job has at first, and at most: more than any job has nodes today, and a second of work for the nodes' engine."""


class PlacementsState(msgspec.Struct):
    """State of an attempt.

    Attributes:
        nodes: Nodes that a scheduler reported, and since when the attempt is known to be there, in seconds since 1970.
        claimed: Nodes that only chunks and events of pipes named, likewise.
        claims: Claims of new nodes that the job has left. The newest attempt holds them.
        repeated_at: Time at which all placements were last repeated.
        records: Number of records since then.
        until: End of the attempt; null while it lasts.
        sluid: Slurm's id of this run; empty where not known.
    """

    nodes: dict[str, float] = {}
    claimed: dict[str, float] = {}
    claims: float = CLAIMS
    repeated_at: float = 0.0
    records: int = 0
    until: float | None = None
    sluid: str = ""

    def all_nodes(self) -> list[str]:
        """Return the reported nodes, then the claimed ones."""
        return [*self.nodes, *self.claimed]

    def known_since(self, node: str) -> float | None:
        """Return since when the attempt is known to be on `node`; None where it is not."""
        found = self.nodes.get(node)
        return self.claimed.get(node) if found is None else found


class PlacementMetrics:
    """Counts claims that are not believed."""

    def __init__(self) -> None:
        self.refused = Counter(
            "schedmate_placements_claims_refused",
            "Records that named a new node of a job with too many nodes. Findings on that node do not reach the job.",
            registry=None,
        )


class Placements(Stage[PlacementsState]):
    """Reports on which nodes an attempt is, and when it no longer is."""

    name = "placements"
    state = PlacementsState
    order = 10

    def __init__(self) -> None:
        self.metrics = PlacementMetrics()

    def metric_groups(self) -> Sequence[object]:
        """Return the counter of refused claims."""
        return [self.metrics]

    def on_begun(self, state: PlacementsState, former: PlacementsState) -> None:
        """Take over the job's claims: a new attempt brings no new ones."""
        state.claims, former.claims = former.claims, 0.0

    def on_chunk(self, chunk: ClassifiedChunk, position: Position, state: PlacementsState) -> list[Placement]:
        """Return what follows from the node that a chunk came from."""
        return self._follow(chunk.job, chunk.attempt, [chunk.node] if chunk.node else [], chunk.time, state)

    def on_event(self, event: JobEvent, position: Position, state: PlacementsState) -> list[Placement]:
        """Return what follows from the nodes that an event names, and the end of all placements at the end of the attempt."""
        reported = not event.by_producer
        made = self._follow(event.job, event.attempt, event.nodes, event.time, state, reported=reported)
        if reported and event.sluid not in ("", state.sluid):
            state.sluid = event.sluid
            made = [_placement(event.job, event.attempt, node, state) for node in state.all_nodes()]
        if event.kind is EventKind.ENDED:
            made += _end(event.job, event.attempt, event.time, state)
        return made

    def on_superseded(
        self, job: str, attempt: int, time: float, position: Position, state: PlacementsState
    ) -> list[Placement]:
        """Return the end of all placements: where one attempt begins, the one before is over."""
        return _end(job, attempt, time, state)

    def on_reopened(
        self, job: str, attempt: int, time: float, position: Position, state: PlacementsState
    ) -> list[Placement]:
        """Return all placements again, as ones that last."""
        if state.until is None:
            return []
        state.repeated_at, state.until = max(time, state.repeated_at, state.until), None
        return [_placement(job, attempt, node, state) for node in state.all_nodes()]

    def _follow(
        self,
        job: str,
        attempt: int,
        nodes: Iterable[str],
        time: float,
        state: PlacementsState,
        *,
        reported: bool = False,
    ) -> list[Placement]:
        state.records += 1
        # A claim comes back with 50 records: 2,500 nodes that print once a second get 50 a second, 50 forged records
        # get one.
        state.claims = min(CLAIMS, state.claims + (1 / 50))
        changed = [node for node in nodes if (_report if reported else self._claim)(node, time, state)]
        if state.until is None and _is_time_to_repeat(time, state):
            # One rank may print for all: while it prints, the other nodes are still the job's.
            state.repeated_at, state.records, changed = time, 0, state.all_nodes()
        return [_placement(job, attempt, node, state) for node in changed]

    def _claim(self, node: str, time: float, state: PlacementsState) -> bool:
        """Note that a node is claimed; return whether that is new and believed."""
        since = state.known_since(node)
        if not _is_news(since, time) or (since is None and len(state.claimed) >= NODES):
            return False
        if state.claims < 1:
            self.metrics.refused.inc()
            return False
        state.claims -= 1
        (state.nodes if node in state.nodes else state.claimed)[node] = time
        return True


def _report(node: str, time: float, state: PlacementsState) -> bool:
    """Note that a scheduler reported a node; return whether that is new."""
    since = state.known_since(node)
    if node not in state.nodes and len(state.nodes) >= NODES:
        return False
    if node in state.nodes and not _is_news(since, time):
        return False
    state.claimed.pop(node, None)
    state.nodes[node] = time if _is_news(since, time) or since is None else since
    return True


def _is_news(since: float | None, time: float) -> bool:
    # Ranks start within 60 s of each other: only an earlier time than that is reported.
    return since is None or time < since - 60.0


def _is_time_to_repeat(time: float, state: PlacementsState) -> bool:
    # Every hour: a placement without a reported end is deleted a day after its last repetition.
    if time < state.repeated_at + 3600.0:
        return False
    return not state.repeated_at or state.records * REPEATED_A_RECORD >= len(state.nodes) + len(state.claimed)


def _end(job: str, attempt: int, time: float, state: PlacementsState) -> list[Placement]:
    if state.until is not None:
        return []
    state.until = time
    return [_placement(job, attempt, node, state) for node in state.all_nodes()]


def _placement(job: str, attempt: int, node: str, state: PlacementsState) -> Placement:
    since = state.known_since(node) or 0.0
    return Placement(
        job=job,
        attempt=attempt,
        node=node,
        since=since,
        seen=max(state.repeated_at, since),
        until=state.until,
        reported=node in state.nodes,
        sluid=state.sluid,
    )
