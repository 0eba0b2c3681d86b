"""In which order a worker took its newest messages, for the one that must take them again.

Nothing orders a job's topics against each other, and what follows from an event may depend on whether a chunk came before it. A worker that
dies has written what follows from one order; the next one must not add what follows from another.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from schedmate_records import Position

from ..transport import Message

Run = tuple[str, int, int]
"""Messages of a topic that were taken one after the other: topic, first offset, end."""

MOST = 128
"""Number of runs that are kept: those of a second or more, as a batch has one run a topic and offsets are committed twice a second. Each
batch writes them anew."""


class Order:
    """Order of inputs of one partition."""

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
        """Kept runs, oldest first."""
        return list(self._runs)


def beyond(runs: Iterable[Run], offsets: Mapping[str, int]) -> list[Run]:
    """Return what of `runs` lies at or after `offsets`, by topic."""
    return [
        (topic, max(first, offsets[topic]), end)
        for topic, first, end in runs
        if topic in offsets and end > offsets[topic]
    ]


def to_take_again(runs: Iterable[Run], committed: Mapping[str, int]) -> list[Run]:
    """Return what a worker takes again, in order: `runs` from the offsets in `committed` on.

    The worker before may have dropped runs before these. They come first, so that each topic keeps its order: a state that includes a
    message passes over all earlier ones.
    """
    kept = beyond(runs, committed)
    first: dict[str, int] = {}
    for topic, begin, _ in kept:
        first.setdefault(topic, begin)
    dropped = [(topic, committed[topic], begin) for topic, begin in first.items() if begin > committed[topic]]
    return [*dropped, *kept]


def topic_by_topic(messages: Iterable[Message], topics: Sequence[str]) -> list[Message]:
    """Return `messages` in the order of `topics`, those of one topic in their own order.

    Faust returns a message of each topic in turn. Each would be a run of its own, and one batch of a backlog would fill the order.
    """
    return sorted(messages, key=lambda message: topics.index(message.position.topic))
