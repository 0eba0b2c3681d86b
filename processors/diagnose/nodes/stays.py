"""When a job's attempt is on which nodes, as its own records tell, said so that the nodes' evidence finds it."""

from collections.abc import Iterable

import msgspec

from records import JobEvent, LogChunk, NodeStay

AGAIN_S = 3600.0
"""A stay that lasts is said again so often: one that nobody ended is forgotten a day after it was last heard of."""
EARLIER_S = 60.0
"""Ranks start within so much of each other; what is earlier by more is said again."""
NODES = 8192
"""Nodes that an attempt may have; further ones are not followed."""


class Stay(msgspec.Struct):
    """From when on the attempt is known on a node, and until when that was said."""

    since: float
    said: float


class StaysState(msgspec.Struct):
    """What is remembered of the newest attempt: its nodes, and when it ended."""

    attempt: int = 0
    nodes: dict[str, Stay] = {}
    until: float | None = None


def follow(record: LogChunk | JobEvent, state: StaysState) -> list[NodeStay]:
    """Return what `record` newly tells of where the job is: the nodes that it names, and the end of the attempt before."""
    over: list[NodeStay] = []
    if record.attempt > state.attempt:
        over = end(record.job, state.attempt, record.time, state)
        state.attempt, state.nodes, state.until = record.attempt, {}, None
    if record.attempt < state.attempt:
        return over
    nodes = record.nodes if isinstance(record, JobEvent) else [record.node] if record.node else []
    return [*over, *_there(record.job, nodes, record.time, state)]


def end(job: str, attempt: int, time: float, state: StaysState) -> list[NodeStay]:
    """Return the end of all stays of the newest attempt; nothing where `attempt` is another, or where it was said already."""
    if attempt != state.attempt or state.until is not None:
        return []
    state.until = time
    return [_stay(job, node, state) for node in state.nodes]


def _there(job: str, nodes: Iterable[str], time: float, state: StaysState) -> list[NodeStay]:
    said = []
    for node in nodes:
        known = state.nodes.get(node)
        if known is None:
            if len(state.nodes) >= NODES:
                break
            state.nodes[node] = Stay(time, time)
        elif time < known.since - EARLIER_S:
            known.since = time
        elif time >= known.said + AGAIN_S and state.until is None:
            known.said = time
        else:
            continue
        said.append(_stay(job, node, state))
    return said


def _stay(job: str, node: str, state: StaysState) -> NodeStay:
    stay = state.nodes[node]
    return NodeStay(
        job=job, attempt=state.attempt, node=node, since=stay.since, seen=max(stay.said, stay.since), until=state.until
    )
