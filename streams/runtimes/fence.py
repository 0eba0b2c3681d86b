"""Keeps a worker from writing for a partition that another one took over while it was stopped.

A worker that is stopped for longer than its session loses its partitions without knowing. But a worker that takes a partition over writes
a marker with a higher epoch into the states' partition, and each worker that takes messages first writes their order there (`order.py`). A
log has one order: either the second worker has read the first one's plan, and keeps to it, or the first one finds the second one's marker
before its own plan, and writes nothing of what it planned.
"""

from ..kafka import Connection
from .sole_writer import SoleWriter
from .state_reader import read_messages
from .stored import MARKER, Key, UnreadableState


class Overtaken(Exception):
    """Another worker has taken a partition over."""


async def epochs_of_others(connection: Connection, sole: SoleWriter, part: tuple[str, int], own: int) -> set[int]:
    """Return the epochs of the workers whose markers came into `part` (topic, partition) between ours since the last look."""
    gap = sole.take_gap(part)
    if gap is None:
        return set()
    found = set[int]()
    async for messages in read_messages(connection, *part, *gap):
        for message in messages:
            try:
                key = Key.decode(message.key or b"")
            except UnreadableState:
                continue
            if key.name == MARKER and message.value:
                found.add(key.epoch)
    return found - {own}
