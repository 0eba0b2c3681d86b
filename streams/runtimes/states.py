"""The states of the keys of one partition: decoded while they are in use, else as they are stored."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Generic

import msgspec
import structlog

from processors.keyed import KeyedProcessor, Part, State
from streams.transport import Message, Outgoing

from .marker import Marker
from .parts import Parts
from .stored import LARGEST, MARKER, Header, UnreadableState, header, message_key, names, pack, unpack

log = structlog.get_logger(__name__)

OPEN_PARTS = 16_384
"""Decoded parts that stay in memory, shared out among the keys that are decoded: all ranks of one large job, or a few of each of many."""
FEW = 64
"""Those that every key may keep."""


@dataclass
class Entry(Generic[State]):
    """A key whose state is decoded.

    Attributes:
        name: The key.
        state: Its state; the parts are in `parts`, too.
        parts: The parts of the state.
        changed: The state has changed since it was stored, parts left aside.
        since: The first input that is not stored with it, by topic; empty where all is.
        dirty_at: When the first of them was taken (`States.dirty`).
        touched: When it last took in something, in seconds since 1970.
    """

    name: str
    state: State
    parts: Parts
    changed: bool = False
    since: dict[str, int] = field(default_factory=dict)
    dirty_at: tuple[float, float] = (0.0, 0.0)
    touched: float = 0.0
    _before: bytes = b""

    def begin(self, attribute: str) -> None:
        """Remember how it is now, for `roll_back`."""
        self._before = msgspec.msgpack.encode(_alone(self.state, attribute))
        self.parts.begin()

    def roll_back(self, attribute: str) -> None:
        """Make it what it was at `begin`."""
        self.state = msgspec.msgpack.decode(self._before, type=type(self.state))
        self.parts.roll_back()
        if attribute:
            setattr(self.state, attribute, self.parts)


class States(Generic[State]):
    """What is known of one partition.

    Attributes:
        dirty: Keys with input that is not stored yet, in the order in which they got it.
        marker: From where input is read again.
        handled: The next offset of each topic.
        trimmed: States that came out too large and were trimmed.
    """

    def __init__(self, processor: KeyedProcessor[State], partition: int) -> None:
        self._processor, self._partition = processor, partition
        self._stored: dict[bytes, bytes] = {}
        self._names: dict[str, dict[str, None]] = {}
        self._open: dict[str, Entry[State]] = {}
        self._state = msgspec.json.Decoder(processor.state)
        self._part = msgspec.json.Decoder(processor.part)
        self.dirty: dict[str, Entry[State]] = {}
        self.marker = Marker()
        self.handled: dict[str, int] = {}
        self.trimmed = 0

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def load(self, messages: Iterable[Message]) -> None:
        """Take over what `messages` of the state topic hold.

        A worker that lost the partition may have written late: of two messages of a key the one with more input wins.
        """
        older = 0
        for message in messages:
            key = message.key or b""
            try:
                if key == MARKER:
                    self.marker = Marker.decode(message.value)
                elif not message.value:
                    self._stored.pop(key, None)
                else:
                    new, known = header(message.value), self._stored.get(key)
                    if known is None or header(known).progress <= new.progress:
                        self._stored[key] = message.value
            except (UnreadableState, msgspec.DecodeError):
                older += 1
        if older:
            log.warning(
                "states_not_readable", topic=self._processor.state_topic, messages=older, then="their keys start anew"
            )

    def loaded(self) -> None:
        """Note that all was loaded: parts without their state go."""
        found = [(key, *names(key)) for key in self._stored]
        self._names = {name: {} for _, name, part in found if part is None}
        for key, name, part in found:
            if part is None:
                continue
            if name in self._names:
                self._names[name][part] = None
            else:
                del self._stored[key]

    def open(self, name: str) -> Entry[State]:
        """Return the state of `name`, decoded; a fresh one where nothing is known."""
        entry = self._open.pop(name, None) or self._decoded(name)
        self._open[name] = entry  # the last in the order of use
        return entry

    def close(self, most: int) -> Iterator[Entry[State]]:
        """Let go of the states used longest ago until at most `most` are decoded; yield those that must be stored first."""
        while len(self._open) > most:
            name = next(iter(self._open))
            entry = self._open.pop(name)
            if name in self.dirty:
                yield entry

    def note(self, entry: Entry[State], topic: str, offset: int, now: tuple[float, float]) -> None:
        """Note that `entry` took in an input that is not stored with it."""
        if not entry.since:
            entry.dirty_at = now
            self.dirty[entry.name] = entry
        entry.since.setdefault(topic, offset)
        entry.changed = True

    def store(self, entry: Entry[State]) -> tuple[list[Outgoing], list[Outgoing]]:
        """Return what stores the whole of `entry`: first its state, to be acknowledged before its parts."""
        own = self.store_state(entry) if entry.changed else []
        ended = self._processor.ended(entry.state)
        made = [
            self._put(entry.name, name, part := entry.parts.opened(name), Header(ended, part.offset + 1, entry.touched))
            for name in entry.parts.changed
        ]
        made += [self._remove(entry.name, name) for name in entry.parts.removed]
        entry.parts.stored(max(OPEN_PARTS // max(len(self._open), 1), FEW))
        entry.since = {}
        self.dirty.pop(entry.name, None)
        return own, made

    def store_state(self, entry: Entry[State]) -> list[Outgoing]:
        """Return what stores the state of `entry` without its parts."""
        entry.changed = False
        ended, progress = self._processor.ended(entry.state), entry.state.progress()
        alone = _alone(entry.state, self._processor.parts)
        return [self._put(entry.name, None, alone, Header(ended, progress, entry.touched))]

    def forget(self, name: str) -> list[Outgoing]:
        """Drop the state of a key; return what deletes it from its topic, the parts first."""
        self._open.pop(name, None)
        self.dirty.pop(name, None)
        return [*(self._remove(name, part) for part in self._names.pop(name)), self._remove(name, None)]

    def header(self, name: str) -> Header | None:
        """Return what is known of a stored state without decoding it; None for one that has changed since, or was never stored."""
        value = None if name in self.dirty else self._stored.get(message_key(name))
        return None if value is None else header(value)

    def replay_from(self) -> dict[str, int]:
        """Return by topic the first input that is not stored with some state."""
        found = {topic: self.handled[topic] for topic in self._processor.replayed if topic in self.handled}
        for entry in self.dirty.values():
            for topic, offset in entry.since.items():
                if offset < found.get(topic, 0):
                    found[topic] = offset
        return found

    def _decoded(self, name: str) -> Entry[State]:
        value = self._stored.get(message_key(name))
        known = self._names.setdefault(name, {})
        try:
            state = self._processor.fresh(name) if value is None else self._state.decode(unpack(value))
        except (UnreadableState, msgspec.DecodeError) as error:
            log.error("state_not_readable", key=name, error=str(error), then="it starts anew")
            state, value = self._processor.fresh(name), None
        parts = Parts(known, partial(self._load_part, name), self._processor.part)
        if self._processor.parts:
            setattr(state, self._processor.parts, parts)
        return Entry(name, state, parts, touched=0.0 if value is None else header(value).touched)

    def _load_part(self, name: str, part: str) -> Part:
        try:
            loaded: Part = self._part.decode(unpack(self._stored[message_key(name, part)]))
        except (UnreadableState, msgspec.DecodeError) as error:
            log.error("state_not_readable", key=name, part=part, error=str(error), then="it starts anew")
            return self._processor.part()
        return loaded

    def _put(self, name: str, part: str | None, state: msgspec.Struct, known: Header) -> Outgoing:
        value = pack(state, known)
        if len(value) > LARGEST:
            self.trimmed += 1
            value = pack(_trimmed(state, name, part), known)
        key = message_key(name, part)
        self._stored[key] = value
        return Outgoing(self._processor.state_topic, key, value, self._partition)

    def _remove(self, name: str, part: str | None) -> Outgoing:
        key = message_key(name, part)
        self._stored.pop(key, None)
        return Outgoing(self._processor.state_topic, key, None, self._partition)


def _alone(state: State, attribute: str) -> State:
    """Return `state` without its parts, which stand in the field `attribute`."""
    return msgspec.structs.replace(state, **{attribute: {}}) if attribute else state


def _trimmed(state: msgspec.Struct, name: str, part: str | None) -> msgspec.Struct:
    """Return `state` without its largest fields, as many as must go; they begin anew."""
    fields = {each.name: each for each in msgspec.structs.fields(state)}
    droppable = [
        each for each in fields.values() if each.default_factory is not msgspec.NODEFAULT and each.name != "positions"
    ]
    sizes = sorted(
        ((len(msgspec.json.encode(getattr(state, each.name))), each.name) for each in droppable), reverse=True
    )
    kept, dropped = sum(size for size, _ in sizes), []
    for size, largest in sizes:
        if kept <= LARGEST:
            break
        factory = fields[largest].default_factory
        setattr(state, largest, factory())
        kept -= size
        dropped.append(largest)
    log.warning("state_trimmed", key=name, part=part, dropped=dropped)
    return state
