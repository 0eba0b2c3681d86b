"""In which order a worker took its newest messages, for the one that must take them again.

Nothing orders a job's topics against each other, and what follows from an event may depend on whether a chunk came before it. A worker that
dies has written what follows from one order; the next one must not add what follows from another.
"""

from collections import deque
from collections.abc import Iterable

from schedmate_records import Position

Run = tuple[str, int, int]
"""Messages of a topic that were taken one after the other: topic, first offset, end."""

MOST = 128
"""Runs that are kept: those of a second or more, and offsets are committed twice a second. With each batch they are written anew."""


class Order:
    """Of one partition."""

    def __init__(self) -> None:
        self._runs: deque[Run] = deque(maxlen=MOST)

    def record(self, places: Iterable[Position]) -> None:
        """Note that the messages at `places` are taken next."""
        for place in places:
            topic, first, end = self._runs[-1] if self._runs else ("", 0, 0)
            if (topic, end) == (place.topic, place.offset):
                self._runs[-1] = (topic, first, end + 1)
            else:
                self._runs.append((place.topic, place.offset, place.offset + 1))

    @property
    def runs(self) -> list[Run]:
        """What is kept, oldest first."""
        return list(self._runs)


def beyond(runs: Iterable[Run], offsets: dict[str, int]) -> list[Run]:
    """Return what of `runs` lies at or after `offsets`, by topic."""
    return [
        (topic, max(first, offsets[topic]), end)
        for topic, first, end in runs
        if topic in offsets and end > offsets[topic]
    ]
