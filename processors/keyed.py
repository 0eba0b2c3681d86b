"""The interface between a runtime and a processor: records of some topics, separated by key, each key with a state of its own."""

from typing import Protocol, TypeVar

import msgspec

from schedmate_records import Position, Record


class Part(msgspec.Struct):
    """A part of a key's state that is stored by itself, such as one stream of a job.

    Attributes:
        offset: Offset of the newest input that it includes; -1 before the first.
    """

    offset: int = -1


class KeyedState(msgspec.Struct, kw_only=True):
    """State of one key, in a form that can be stored.

    Attributes:
        positions: Offset of the newest input included, by `topic/partition`. Input at or before it changes nothing.
    """

    positions: dict[str, int] = {}

    def includes(self, position: Position) -> bool:
        """Return whether the input at `position` is included."""
        return position.offset <= self.positions.get(f"{position.topic}/{position.partition}", -1)

    def include(self, position: Position) -> None:
        """Note that the input at `position` is included."""
        self.positions[f"{position.topic}/{position.partition}"] = position.offset

    def progress(self) -> int:
        """Return a number that grows with every input: of two states of a key, the one with the higher number is newer."""
        return sum(offset + 1 for offset in self.positions.values())


State = TypeVar("State", bound=KeyedState)


class KeyedProcessor(Protocol[State]):
    """Takes the records of some topics one by one, each with the state of its key, and returns what follows.

    It holds nothing of a key itself: the state goes in and is changed in place. The same records on the same state give the same
    results in every runtime and at any time.

    A state may have parts, in a mapping that the field `parts` names. A runtime stores each part by itself, and only when it
    changed; a stored part never includes more than the rest of its state does, but may include less. So after a crash a
    record may be included in the state and not in its part: then `replay` takes it, not `process`.
    """

    @property
    def inputs(self) -> tuple[str, ...]:
        """The topics that it reads. Their keys (`records.Topic.key`) mean the same; they have the same number of partitions."""

    @property
    def replayed(self) -> tuple[str, ...]:
        """Those of the inputs whose order alone decides a state: it need not be stored after each, since they can be read again."""

    @property
    def state_topic(self) -> str:
        """The compacted topic that holds the states."""

    @property
    def state(self) -> type[State]:
        """The type of a state."""

    @property
    def parts(self) -> str:
        """The field of a state that holds its parts by name; empty for a state without."""

    @property
    def part(self) -> type[Part]:
        """The type of a part."""

    def fresh(self, key: str) -> State:
        """Return the state of a key that nothing is known of."""

    def process(self, state: State, position: Position, record: Record) -> list[Record]:
        """Return what follows from `record` at `position`; `state` then includes it."""

    def replay(self, state: State, position: Position, record: Record) -> None:
        """Take `record` into the part that lacks it; all else in `state` includes it already."""

    def ended(self, state: State) -> bool:
        """Return whether nothing more is expected of the key."""

    def is_confirmed(self, state: State) -> bool:
        """Return whether a source that users cannot forge reports the key, and that it still goes on."""

    def is_claim(self, record: Record) -> bool:
        """Return whether users can write `record`, so that its key may be made up."""
