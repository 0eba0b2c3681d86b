"""Deliveries of a subscription, and its counters."""

from collections.abc import Callable
from dataclasses import dataclass

from schedmate_records import Decision, Position


@dataclass(frozen=True, slots=True)
class DeadRecord:
    """A message that is not a decision: its position, its content, and why it could not be read."""

    position: Position
    value: bytes
    reason: str


@dataclass(slots=True)
class SubscriberCounters:
    """Counters of a subscription."""

    delivered: int = 0
    """Decisions handed out."""
    acknowledged: int = 0
    """Decisions acknowledged."""
    skipped: int = 0
    """Decisions left out because of their action or mode."""
    over: int = 0
    """Decisions left out because their time was over, or because they were dealt with."""
    expired: int = 0
    """Decisions handed out after their time."""
    unsigned: int = 0
    """Decisions that none of the keys signed."""
    dead: int = 0
    """Messages that were no decisions."""


class Delivery:
    """One decision. It comes again, to this group, until it is acknowledged.

    Attributes:
        decision: The decision.
        position: Its position in the topic.
        expired: True where its time was over when it was handed out.
        signed: True where one of the keys signed it, False where none did; None where no keys were given.
    """

    def __init__(
        self,
        decision: Decision,
        position: Position,
        ack: Callable[[Position], None],
        *,
        expired: bool,
        signed: bool | None = None,
    ) -> None:
        self.decision = decision
        self.position = position
        self.expired = expired
        self.signed = signed
        self._ack = ack

    def ack(self) -> None:
        """Acknowledge that the decision is dealt with, whether carried out or not. May be called from any thread, and twice.

        Called from the thread that iterates, it returns once the broker knows; from another thread, the broker learns of it when
        the iteration goes on. What came before in the same partition and is not acknowledged is not passed over.
        """
        self._ack(self.position)
