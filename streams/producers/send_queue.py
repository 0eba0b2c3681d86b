"""Messages in memory, sent in the order of their ordering key, one of each key at a time.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress

from .envelope import Envelope


class SendQueue:
    """Queues by ordering key. Not thread-safe: the shipper holds its own lock.

    Attributes:
        size: Bytes in it, roughly.
        only_here: Those that stand on no disk, the oldest first.
        in_flight: Those that are under way, and since when.
    """

    def __init__(self) -> None:
        self.size = 0
        self.only_here: dict[Envelope, None] = {}
        self.in_flight: dict[Envelope, float] = {}
        self._queues: dict[str, deque[Envelope]] = {}
        self._ready: deque[str] = deque()
        self._count = 0

    def __len__(self) -> int:
        """Return the number of messages in it."""
        return self._count

    def put(self, envelope: Envelope) -> None:
        """Add `envelope` behind all of its key."""
        key = envelope.source.ordering_key
        queue = self._queues.setdefault(key, deque())
        if not queue:
            self._ready.append(key)
        queue.append(envelope)
        self._count += 1
        self.size += envelope.size
        if envelope.entry is None:
            self.only_here[envelope] = None

    def pop_due(self, limit: int, now: float) -> list[Envelope]:
        """Return what may be sent at `now`, so that at most `limit` are in flight."""
        taken = []
        while self._ready and len(self.in_flight) < limit:
            envelope = self._queues[self._ready.popleft()][0]
            self.in_flight[envelope] = now
            taken.append(envelope)
        return taken

    def take_again(self) -> None:
        """Forget what is in flight: all of it is to be sent again, in its old order."""
        self.in_flight.clear()
        self._ready = deque(self._queues)

    def answered(self, envelope: Envelope) -> None:
        """Remove `envelope`, which was in flight; the next of its key may follow."""
        key = envelope.source.ordering_key
        self._queues[key].popleft()
        if self._queues[key]:
            self._ready.append(key)
        self._forget(envelope)

    def drop_oldest(self) -> Envelope | None:
        """Remove and return the oldest that is not in flight; None where there is none."""
        oldest = next((each for each in self.only_here if each not in self.in_flight), None)
        if oldest is not None:
            self._queues[oldest.source.ordering_key].remove(oldest)
            self._forget(oldest)
        return oldest

    def _forget(self, envelope: Envelope) -> None:
        key = envelope.source.ordering_key
        if not self._queues[key]:
            del self._queues[key]
            with suppress(ValueError):
                self._ready.remove(key)
        self._count -= 1
        self.size -= envelope.size
        self.only_here.pop(envelope, None)
