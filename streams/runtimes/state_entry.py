"""The state of one key while it is decoded, and how it is made what it was before a message that a processor failed at."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic

import msgspec

from processors.keyed import State

from ..transport import Message
from .parts import Parts

KEPT, KEPT_BYTES = 8, 16_384
"""Messages, and bytes of them, after which a copy of the state is made anew: to copy it costs as much as to process a small message."""


copied = msgspec.json.encode
"""The form of states in their topic: parts of a state may still be as they were read from there."""


@dataclass
class StateEntry(Generic[State]):
    """A key whose state is decoded.

    A processor may fail half way through a message, and leaves a state that is neither old nor new. So there is a copy of the state, and
    what was taken since then: from both follows any state in between, since the same records make the same state.

    Attributes:
        name: The key.
        state: Its state; the parts are in `parts`, too.
        parts: The parts of the state.
        attribute: The field of the state that holds its parts; empty for a state without.
        changed: The state has changed since it was stored, parts left aside.
        since: The first input that is not stored with it, by topic; empty where all is.
        dirty_at: When the first of them was taken (`States.dirty`).
        touched: When it last took in something, by the broker's clock, in seconds since 1970.
        born: When it took in its first input, likewise; null before that, 0 where it is not known.
        inputs: Number of inputs that it took in.
        kept: What was taken since the copy was made.
    """

    name: str
    state: State
    parts: Parts
    attribute: str = ""
    changed: bool = False
    since: dict[str, int] = field(default_factory=dict)
    dirty_at: tuple[float, float] = (0.0, 0.0)
    touched: float = 0.0
    born: float | None = None
    inputs: int = 0
    kept: list[Message] = field(default_factory=list)
    _copy: bytes = b""
    _room: int = 0

    @property
    def alone(self) -> State:
        """The state without its parts."""
        return msgspec.structs.replace(self.state, **{self.attribute: {}}) if self.attribute else self.state

    def begin(self) -> None:
        """Make ready to be rolled back to how it is now."""
        if len(self.kept) < KEPT and self._room > 0:
            return
        self._copy, self.kept, self._room = copied(self.alone), [], KEPT_BYTES
        self.parts.begin()

    def keep(self, messages: Sequence[Message]) -> None:
        """Note that all of `messages` was taken since `begin`, and none made a processor fail."""
        self.kept += messages
        self._room -= sum(len(message.value) for message in messages)

    def copy_anew(self) -> None:
        """Note that what was taken since `begin` cannot be taken again: the next `begin` makes a copy."""
        self._room = 0

    def roll_back(self) -> Sequence[Message]:
        """Make it what it was at the last copy; return what must be taken again to make it what it was at `begin`."""
        self.state = msgspec.json.decode(self._copy, type=type(self.state))
        self.parts.roll_back()
        if self.attribute:
            setattr(self.state, self.attribute, self.parts)
        return self.kept
