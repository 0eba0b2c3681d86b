"""Protocol of a producer of messages.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from concurrent.futures import Future
    from typing import Protocol
else:
    Protocol = object


class Outgoing(NamedTuple):
    """One message to be written. `partition` is chosen from the key where it is None; a value of None deletes a compacted key."""

    topic: str
    key: bytes | None
    value: bytes | None
    partition: int | None = None


class Refused(Exception):
    """The message will never be taken: to send it again is no use."""


class Producer(Protocol):
    """Writes messages. Messages of one key stay in order."""

    def send(self, message: Outgoing) -> Future[None]:
        """Take over `message` and return at once; the future is done once it is acknowledged.

        The future raises where the message was not written: `Refused` where it never will be. Order within a key is kept.
        """

    def flush(self, timeout: float) -> None:
        """Wait until all that was sent is acknowledged. Raises `TransportError` after `timeout` seconds."""

    def close(self) -> None:
        """Give up what is not acknowledged and let go of all resources."""
