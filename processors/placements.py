"""On which nodes a job's attempt is, as its own records tell; said so that the nodes' evidence finds it."""

from collections.abc import Iterable
from math import inf

import msgspec

from records import PIPE_SAYS, EventKind, JobEvent, Placement, Position

from .classified_chunk import ClassifiedChunk
from .stage import Stage

REPEATED_S = 3600.0
"""A placement that lasts is said again so often: one that nobody ended is forgotten a day after it was last said."""
EARLIER_S = 60.0
"""Ranks start within so much of each other; what is earlier by more is said again."""
NODES = 8192
"""Nodes that an attempt may have; further ones are not followed."""


class PlacementsState(msgspec.Struct):
    """What is remembered of an attempt.

    Attributes:
        nodes: Its nodes, and from when on it is known there, in seconds since 1970.
        said: When all of them were said last.
        until: When it ended; null while it lasts.
        sluid: Slurm's id of this run; empty where not known.
    """

    nodes: dict[str, float] = {}
    said: float = 0.0
    until: float | None = None
    sluid: str = ""


class Placements(Stage[PlacementsState]):
    """Says on which nodes an attempt is, and when it no longer is."""

    name = "placements"

    def on_chunk(self, chunk: ClassifiedChunk, position: Position, state: PlacementsState) -> list[Placement]:
        """Return what the node that printed newly tells."""
        return _follow(chunk.job, chunk.attempt, [chunk.node] if chunk.node else [], chunk.time, state)

    def on_event(self, event: JobEvent, position: Position, state: PlacementsState) -> list[Placement]:
        """Return what the nodes that an event names newly tell, and the end of all placements at the end of the attempt."""
        told = _follow(event.job, event.attempt, event.nodes, event.time, state)
        if event.sluid not in ("", state.sluid) and event.scheduler not in PIPE_SAYS:
            state.sluid = event.sluid
            told = [_stay(event.job, event.attempt, node, state) for node in state.nodes]
        if event.kind is EventKind.ENDED:
            told += _end(event.job, event.attempt, event.time, state)
        return told

    def on_superseded(
        self, job: str, attempt: int, time: float, position: Position, state: PlacementsState
    ) -> list[Placement]:
        """Return the end of all placements: where one attempt begins, the one before is over."""
        return _end(job, attempt, time, state)


def _follow(job: str, attempt: int, nodes: Iterable[str], time: float, state: PlacementsState) -> list[Placement]:
    new = _new(nodes, time, state)
    if state.until is None and time >= state.said + REPEATED_S:
        # One rank may print for all: whoever is heard, the others are there too.
        state.said, new = time, list(state.nodes)
    return [_stay(job, attempt, node, state) for node in new]


def _end(job: str, attempt: int, time: float, state: PlacementsState) -> list[Placement]:
    if state.until is not None:
        return []
    state.until = time
    return [_stay(job, attempt, node, state) for node in state.nodes]


def _new(nodes: Iterable[str], time: float, state: PlacementsState) -> list[str]:
    """Note `nodes`, and return those that were not known, or from later on only."""
    new = []
    for node in nodes:
        since = state.nodes.get(node)
        if time < (inf if since is None else since - EARLIER_S) and (since is not None or len(state.nodes) < NODES):
            state.nodes[node] = time
            new.append(node)
    return new


def _stay(job: str, attempt: int, node: str, state: PlacementsState) -> Placement:
    since = state.nodes[node]
    return Placement(
        job=job,
        attempt=attempt,
        node=node,
        since=since,
        seen=max(state.said, since),
        until=state.until,
        sluid=state.sluid,
    )
