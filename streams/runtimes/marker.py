"""State of a partition that a worker needs before it continues."""

import secrets

import msgspec

from schedmate_records import Position

from .new_keys import NewKeys
from .order import Run

STARTS = 3
"""Workers in a row that begin at one place, of which the last one is careful: two in a row may have been killed by an operator."""
SUSPECTS = 500
"""Messages of a topic that a careful worker tries: what a worker takes at once. Each one after it tries twice as many, since workers commit
a little later than they take more. To try a whole backlog would take longer than workers live that something else ends again and again."""


class Marker(msgspec.Struct):
    """The state topic's message about a partition of the input.

    A worker stores states now and then, not after every input. The input between is read again by the next worker, from
    here to what the group has committed, to make the states what they were; nothing follows from it a second time.

    Attributes:
        epoch: Of the newest worker that took the partition over; each has a higher one.
        replay: By topic, the first offset that some state may lack.
        begun: What was committed when the newest worker took the partition over, by topic.
        held: The end of each topic then.
        starters: Worker processes that took it over there, oldest first: those before the newest died without getting further, had nothing
            to do, or lost it.
        aside: Inputs at which workers died, which are passed over.
        new_keys: How many new keys may still come.
        order: In which the newest worker takes what may not be committed yet (`order.py`).
    """

    epoch: int = 0
    replay: dict[str, int] = {}
    begun: dict[str, int] = {}
    held: dict[str, int] = {}
    starters: list[int] = []
    aside: list[Position] = []
    order: list[Run] = []
    new_keys: NewKeys = msgspec.field(default_factory=NewKeys)

    def begin(
        self, committed: dict[str, int], ends: dict[str, int], replayed: tuple[str, ...], worker: int
    ) -> dict[str, int]:
        """Note that a worker takes the partition over.

        Args:
            committed: The next offset of each topic.
            ends: The end of each topic.
            replayed: The topics whose input is read again.
            worker: The worker's process, by a number of its own.

        Returns:
            By topic the end of the input at which the workers before may have ended, where this is the third in a row that begins here.
        """
        # Two workers may take it over at once, one of them for a moment only: random bits make their epochs differ.
        self.epoch = ((self.epoch >> 16) + 1) << 16 | secrets.randbits(16)
        before = [other for other in self.starters if other != worker] if committed == self.begun else []
        # Remember 30 earlier ones: by then a careful worker tries all messages.
        self.starters = [*before[-30:], worker]
        careful = len(self.starters) - STARTS
        tried = SUSPECTS << min(careful, 20) if careful >= 0 else 0
        met = {topic: min(end, committed.get(topic, end) + tried) for topic, end in self.held.items()} if tried else {}
        self.begun, self.held = committed, ends
        for topic in replayed:
            self.replay[topic] = min(self.replay.get(topic, committed[topic]), committed[topic])
        self.aside = [
            place for place in self.aside if place.offset >= self.replay.get(place.topic, committed[place.topic])
        ]
        return met

    def encode(self) -> bytes:
        """Return the message's value."""
        return msgspec.json.encode(self)

    @staticmethod
    def decode(value: bytes) -> "Marker":
        """Return the marker that a message holds; raises `msgspec.DecodeError`."""
        return msgspec.json.decode(value, type=Marker)
