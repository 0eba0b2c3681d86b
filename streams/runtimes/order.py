"""In which order a worker took its newest messages, for the one that must take them again.

Nothing orders a job's topics against each other, and what follows from an event may depend on whether a chunk came before it. A worker that
dies has written what follows from one order; the next one must not add what follows from another.
"""

from collections import deque
from collections.abc import Iterable

from records import Position

Run = tuple[str, int, int]
"""Messages of a topic that were taken one after the other: topic, first offset, end."""

KEPT_S = 5.0
"""Seconds for which it is kept: offsets are committed twice a second."""
MOST = 128
"""Runs that are kept: with each batch they are written anew."""


class Order:
    """Of one partition."""

    def __init__(self) -> None:
        self._runs: deque[tuple[float, Run]] = deque()

    def take(self, places: Iterable[Position], now: float) -> None:
        """Note that the messages at `places` are taken next, at the time `now` of a clock that never goes back."""
        for place in places:
            topic, first, end = self._runs[-1][1] if self._runs else ("", 0, 0)
            if (topic, end) == (place.topic, place.offset):
                self._runs[-1] = now, (topic, first, end + 1)
            else:
                self._runs.append((now, (place.topic, place.offset, place.offset + 1)))
        while len(self._runs) > MOST or self._runs[0][0] < now - KEPT_S:
            self._runs.popleft()

    @property
    def runs(self) -> list[Run]:
        """What is kept, oldest first."""
        return [run for _, run in self._runs]


def beyond(runs: Iterable[Run], offsets: dict[str, int]) -> list[Run]:
    """Return what of `runs` lies at or after `offsets`, by topic."""
    return [
        (topic, max(first, offsets[topic]), end)
        for topic, first, end in runs
        if topic in offsets and end > offsets[topic]
    ]
