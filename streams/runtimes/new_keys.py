"""Limit of new keys of a partition that only users' records name. Anyone may send records of made-up jobs.

Producers' names are claims as well, and Kafka does not pass on who wrote a message, so each partition has one limit. A key that a
scheduler, or a node's own log, reports is taken in without limit.

A worker that takes the partition over must refuse what this one refused, and nothing else. The first refusal makes the partition
*limited*. While it is, the state of each admitted key is stored before its input is committed, and the partition's marker holds the places
of those that were admitted lately. So when input is read again, a claim of an unknown key was refused unless its place is on that list.
"""

from collections.abc import Iterable, Mapping

import msgspec

from schedmate_records import Position

KEYS = 10_000
"""New keys at once: twelve partitions take in 120,000 jobs, more than a cluster runs without its scheduler's watcher."""
A_SECOND = 2.0
"""New keys for each second that passes, by the broker's clock: 7,200 an hour in each partition."""
LIMITED_KEYS = 64
"""New keys at once while the partition is limited."""
COMMITTED_S = 60.0
"""Seconds after which a refused message is surely committed: a worker that cannot commit for so long has lost its partitions."""


class NewKeys(msgspec.Struct):
    """Remaining budget for new keys of a partition; part of its marker.

    Attributes:
        left: New keys that may still come.
        time: Time of the newest message of a new key, by the broker's clock, in seconds since 1970.
        limited: By topic, the first offset at which a new key may have been refused; empty where none was.
        refused: By topic, the offset of the newest refused message.
        admitted: Places of the newest messages whose new keys were taken in since then.
    """

    left: float = msgspec.field(default_factory=lambda: KEYS)
    time: float = 0.0
    limited: dict[str, int] = {}
    refused: dict[str, int] = {}
    admitted: list[Position] = []

    def admit(self, place: Position, time: float, handled: Mapping[str, int], topics: Iterable[str]) -> bool:
        """Return whether the new key of the message at `place` is taken in.

        Args:
            place: Position of the message.
            time: When it was written, by the broker's clock.
            handled: The next offset of each topic.
            topics: All input topics.
        """
        passed = max(time - self.time, 0.0) if self.time else 0.0
        self.time = max(self.time, time)
        self.left = min(LIMITED_KEYS if self.limited else KEYS, self.left + passed * A_SECOND)
        if self.left >= 1:
            self.left -= 1
            if self.limited:
                # Keep the places of 1,500 admitted claims: more than a worker takes before it commits.
                self.admitted = [*self.admitted, place][-1500:]
            return True
        if not self.limited:
            self.limited = {topic: handled.get(topic, 0) for topic in topics} | {place.topic: place.offset}
        self.refused[place.topic] = place.offset
        return False

    def was_admitted(self, place: Position) -> bool:
        """Return whether the worker before took in the key, unknown here, of a message that is read again."""
        return not self.limited or place.offset < self.limited.get(place.topic, 0) or place in self.admitted

    def end_limit(self, replay: Mapping[str, int]) -> None:
        """End the limited time where new keys may come again, and no refused message is read again.

        Args:
            replay: By topic, the first offset that the next worker reads again.
        """
        is_read_again = any(replay[topic] <= offset for topic, offset in self.refused.items() if topic in replay)
        if self.limited and self.left >= LIMITED_KEYS - 1 and not is_read_again:
            self.limited, self.refused, self.admitted = {}, {}, []
