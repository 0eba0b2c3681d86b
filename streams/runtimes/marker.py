"""What a worker must know of a partition before it reads on."""

import msgspec

from records import Position

from .stored import MARKER


class Marker(msgspec.Struct):
    """The state topic's message about a partition of the input.

    A worker stores states now and then, not after every input. The input between is read again by the next worker, from
    here to what the group has committed, to make the states what they were; nothing follows from it a second time.

    Attributes:
        replay: By topic, the first offset that some state may lack.
        begun: What was committed when the newest worker took the partition over, by topic.
        starts: Workers in a row that took it over there: those before the newest died without getting further.
        aside: Inputs at which workers died, which are passed over.
    """

    replay: dict[str, int] = {}
    begun: dict[str, int] = {}
    starts: int = 0
    aside: list[Position] = []

    def begin(self, committed: dict[str, int], replayed: tuple[str, ...]) -> None:
        """Note that a worker takes the partition over. `committed` is the next offset of each topic."""
        self.starts = self.starts + 1 if committed == self.begun else 1
        self.begun = committed
        for topic in replayed:
            self.replay[topic] = min(self.replay.get(topic, committed[topic]), committed[topic])
        self.aside = [
            place for place in self.aside if place.offset >= self.replay.get(place.topic, committed[place.topic])
        ]

    def encode(self) -> bytes:
        """Return the message's value."""
        return msgspec.json.encode(self)

    @staticmethod
    def decode(value: bytes) -> "Marker":
        """Return the marker that a message holds; raises `msgspec.DecodeError`."""
        return msgspec.json.decode(value, type=Marker)


__all__ = ["MARKER", "Marker"]
