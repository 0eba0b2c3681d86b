"""When a job's attempt is on which nodes, as its own records tell, said so that the nodes' evidence finds it."""

from collections.abc import Iterable
from math import inf

import msgspec

from records import JobEvent, LogChunk, NodeStay

AGAIN_S = 3600.0
"""A stay that lasts is said again so often: one that nobody ended is forgotten a day after it was last heard of."""
EARLIER_S = 60.0
"""Ranks start within so much of each other; what is earlier by more is said again."""
NODES = 8192
"""Nodes that an attempt may have; further ones are not followed."""


class StaysState(msgspec.Struct):
    """What is remembered of the newest attempt.

    Attributes:
        attempt: The attempt.
        nodes: Its nodes, and from when on it is known there, in seconds since 1970.
        said: When all of them were said last.
        until: When it ended; null while it lasts.
    """

    attempt: int = 0
    nodes: dict[str, float] = {}
    said: float = 0.0
    until: float | None = None


def follow(record: LogChunk | JobEvent, state: StaysState) -> list[NodeStay]:
    """Return what `record` newly tells of where the job is: the nodes that it names, and the end of the attempt before."""
    over: list[NodeStay] = []
    if record.attempt > state.attempt:
        over = end(record.job, state.attempt, record.time, state)
        state.attempt, state.nodes, state.said, state.until = record.attempt, {}, 0.0, None
    if record.attempt < state.attempt:
        return over
    nodes = record.nodes if isinstance(record, JobEvent) else [record.node] if record.node else []
    new = _new(nodes, record.time, state)
    if state.until is None and record.time >= state.said + AGAIN_S:
        # One rank may print for all: whoever is heard, the others are there too.
        state.said, new = record.time, list(state.nodes)
    return [*over, *(_stay(record.job, node, state) for node in new)]


def end(job: str, attempt: int, time: float, state: StaysState) -> list[NodeStay]:
    """Return the end of all stays of the newest attempt; nothing where `attempt` is another, or where it was said already."""
    if attempt != state.attempt or state.until is not None:
        return []
    state.until = time
    return [_stay(job, node, state) for node in state.nodes]


def _new(nodes: Iterable[str], time: float, state: StaysState) -> list[str]:
    """Note `nodes`, and return those that were not known, or from later on only."""
    new = []
    for node in nodes:
        since = state.nodes.get(node)
        if time < (inf if since is None else since - EARLIER_S) and (since is not None or len(state.nodes) < NODES):
            state.nodes[node] = time
            new.append(node)
    return new


def _stay(job: str, node: str, state: StaysState) -> NodeStay:
    since = state.nodes[node]
    return NodeStay(
        job=job, attempt=state.attempt, node=node, since=since, seen=max(state.said, since), until=state.until
    )
