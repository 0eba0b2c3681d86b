"""The states of the keys of one partition: decoded while they are in use, else as they are stored."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Generic

import msgspec
import structlog

from processors.keyed import KeyedProcessor, Part, State
from schedmate_records import NOT_JSON, Position

from ..transport import Message, Outgoing
from .marker import Marker
from .order import Order, Run, beyond
from .parts import Parts
from .state_entry import StateEntry
from .stored import LARGEST, MARKER, Key, StateHeader, UnreadableState, header, pack, unpack

log = structlog.get_logger(__name__)


class States(Generic[State]):
    """States of one partition.

    Attributes:
        dirty: Keys with input that is not stored yet, in the order in which they got it.
        marker: From where input is read again.
        handled: The next offset of each topic.
        order: In which the newest messages were taken.
        again: The end of what is read again, by topic.
        planned: In which the worker before took what must be taken again.
        refused_at: When a new key was refused last, on the engine's steady clock.
        time: When the newest message that was handled was written, by the broker's clock, in seconds since 1970. States age by it: hosts'
            clocks are set, and what lies in a backlog is not late.
        trimmed: States that came out too large and were trimmed.
    """

    def __init__(self, processor: KeyedProcessor[State], partition: int) -> None:
        self._processor, self._partition = processor, partition
        self._stored: dict[tuple[str, str], bytes] = {}
        self._beaten: dict[tuple[str, str], dict[int, bytes]] = {}
        self._stale: dict[Key, None] = {}
        self._names: dict[str, dict[str, None]] = {}
        self._open: dict[str, StateEntry[State]] = {}
        self._state = msgspec.json.Decoder(processor.state)
        self._part = msgspec.json.Decoder(processor.part)
        self.dirty: dict[str, StateEntry[State]] = {}
        self.marker = Marker()
        self.handled: dict[str, int] = {}
        self.order = Order()
        self.again: dict[str, int] = {}
        self.planned: list[Run] = []
        self.refused_at = 0.0
        self.time = 0.0
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
            try:
                key = Key.decode(message.key or b"")
                if key.name == MARKER:
                    self._load_marker(key, message.value)
                elif message.value:
                    self._load_state(key, message.value)
                else:
                    self._load_deletion(key)
            except (UnreadableState, *NOT_JSON):
                older += 1
        if older:
            log.warning(
                "states_not_readable", topic=self._processor.state_topic, messages=older, then="their keys start anew"
            )

    def loaded(self) -> list[Outgoing]:
        """Note that all was loaded; return deletions of the messages that are not needed: superseded ones, parts without their state."""
        self._names = {name: {} for name, part in self._stored if not part}
        for name, part in list(self._stored):
            if part and name in self._names:
                self._names[name][part] = None
            elif part:
                self._stale[Key(name, part, header(self._stored.pop((name, part))).epoch)] = None
        beaten, self._beaten = self._beaten, {}
        self._stale |= {Key(*place, epoch): None for place, others in beaten.items() for epoch in others}
        stale, self._stale = self._stale, {}
        return [Outgoing(self._processor.state_topic, key.encode(), None, self._partition) for key in stale]

    def record_order(self, places: Sequence[Position]) -> Outgoing:
        """Note that the messages at `places` are taken next; return the marker that records that."""
        self.order.record(places)
        after = self.handled | {place.topic: place.offset + 1 for place in places}
        self.marker.order = [*self.order.runs, *beyond(self.planned, after)]
        return self.stored_marker()

    def stored_marker(self) -> Outgoing:
        """Return the marker as a message."""
        key = Key(MARKER, "", self.marker.epoch)
        return Outgoing(self._processor.state_topic, key.encode(), self.marker.encode(), self._partition)

    def _load_marker(self, key: Key, value: bytes) -> None:
        if not value:
            self._stale.pop(key, None)
            return
        found = Marker.decode(value)
        self._stale[key] = None  # each worker writes a marker of its own as soon as it has read these
        if found.epoch >= self.marker.epoch:
            self.marker = found

    def _load_state(self, key: Key, value: bytes) -> None:
        """Take over a message, or the one that is known: that with more input.

        The other is kept until all is read. A worker that follows the order of the one before may write a state with less input than that
        one wrote late, and then deletes what it replaced.
        """
        place = key.name, key.part
        self._beaten.get(place, {}).pop(key.epoch, None)
        known = self._stored.get(place)
        if known is not None:
            value, loser = (value, known) if header(known).progress <= header(value).progress else (known, value)
            if header(known).epoch != key.epoch:
                self._beaten.setdefault(place, {})[header(loser).epoch] = loser
        self._stored[place] = value

    def _load_deletion(self, key: Key) -> None:
        place = key.name, key.part
        others, known = self._beaten.get(place, {}), self._stored.get(place)
        if known is None or header(known).epoch != key.epoch:
            others.pop(key.epoch, None)
            return
        del self._stored[place]
        if others:
            self._stored[place] = others.pop(max(others, key=lambda epoch: header(others[epoch]).progress))

    def open(self, name: str) -> StateEntry[State]:
        """Return the state of `name`, decoded; a fresh one where nothing is known."""
        entry = self._open.pop(name, None) or self._decoded(name)
        self._open[name] = entry  # the last in the order of use
        return entry

    def close(self, most: int) -> Iterator[StateEntry[State]]:
        """Let go of the states used longest ago until at most `most` are decoded; yield those that must be stored first."""
        while len(self._open) > most:
            name = next(iter(self._open))
            entry = self._open.pop(name)
            if name in self.dirty:
                yield entry

    def note(self, entry: StateEntry[State], topic: str, offset: int, now: tuple[float, float]) -> None:
        """Note that `entry` took in an input that is not stored with it."""
        if not entry.since:
            entry.dirty_at = now
            self.dirty[entry.name] = entry
        entry.since.setdefault(topic, offset)
        entry.changed = True

    def store(self, entry: StateEntry[State]) -> tuple[list[Outgoing], list[Outgoing]]:
        """Return what stores the whole of `entry`: first its state, to be acknowledged before its parts."""
        own = self.store_state(entry) if entry.changed else []
        made: list[Outgoing] = []
        for name in entry.parts.changed:
            part = entry.parts.opened(name)
            made += self._put(entry, name, part, part.offset + 1)
        for name in entry.parts.removed:
            made += self._remove(entry.name, name)
        # Decoded parts that stay in memory, shared among the decoded keys: all ranks of one large job, or a few of each of many.
        # Every key may keep 64, however many keys there are: the ranks of most jobs.
        entry.parts.stored(max(16_384 // max(len(self._open), 1), 64))
        entry.since = {}
        self.dirty.pop(entry.name, None)
        return own, made

    def store_state(self, entry: StateEntry[State]) -> list[Outgoing]:
        """Return what stores the state of `entry` without its parts."""
        entry.changed = False
        return self._put(entry, "", entry.alone, entry.state.progress())

    def forget(self, name: str) -> list[Outgoing]:
        """Drop the state of a key; return what deletes it from its topic, the parts first."""
        self._open.pop(name, None)
        self.dirty.pop(name, None)
        return [message for part in (*self._names.pop(name), "") for message in self._remove(name, part)]

    def is_stored(self, name: str) -> bool:
        """Return whether the state topic holds a state of `name`, be it an older one."""
        return (name, "") in self._stored

    def accepts(self, name: str, message: Message) -> bool:
        """Return whether a message that users can write is processed under its key `name`: not where that is one new key too many."""
        place, new_keys = message.position, self.marker.new_keys
        is_again = place.offset < self.again.get(place.topic, 0)
        if name in self._names:  # it may have been refused before its key was known
            return not (is_again and new_keys.limited and message.time < self._born(name))
        if is_again:
            return new_keys.was_admitted(place)
        return new_keys.admit(place, message.time, self.handled, self._processor.inputs)

    def _born(self, name: str) -> float:
        if name in self._open:
            return self._open[name].born or 0.0
        return header(self._stored[name, ""]).born if self.is_stored(name) else 0.0

    def header(self, name: str) -> StateHeader | None:
        """Return what is known of a stored state without decoding it; None for one that has changed since, or was never stored."""
        value = None if name in self.dirty else self._stored.get((name, ""))
        return None if value is None else header(value)

    def replay_from(self) -> dict[str, int]:
        """Return by topic the first input that is not stored with some state."""
        found = {topic: self.handled[topic] for topic in self._processor.replayed if topic in self.handled}
        for entry in self.dirty.values():
            for topic, offset in entry.since.items():
                if offset < found.get(topic, 0):
                    found[topic] = offset
        return found

    def _decoded(self, name: str) -> StateEntry[State]:
        value = self._stored.get((name, ""))
        names = self._names.setdefault(name, {})
        try:
            state = self._processor.fresh(name) if value is None else self._state.decode(unpack(value))
        except (UnreadableState, *NOT_JSON) as error:
            log.error("state_not_readable", key=name, error=str(error), then="it starts anew")
            state, value = self._processor.fresh(name), None
        parts = Parts(names, partial(self._load_part, name), self._processor.part)
        if self._processor.parts:
            setattr(state, self._processor.parts, parts)
        if value is None:
            return StateEntry(name, state, parts, self._processor.parts)
        known = header(value)
        return StateEntry(
            name, state, parts, self._processor.parts, touched=known.touched, born=known.born, inputs=known.inputs
        )

    def _load_part(self, name: str, part: str) -> Part:
        try:
            loaded: Part = self._part.decode(unpack(self._stored[name, part]))
        except (UnreadableState, *NOT_JSON) as error:
            log.error("state_not_readable", key=name, part=part, error=str(error), then="it starts anew")
            return self._processor.part()
        return loaded

    def _put(self, entry: StateEntry[State], part: str, state: msgspec.Struct, progress: int) -> list[Outgoing]:
        """Return what stores `state`, and what deletes the message of another worker about the same."""
        known = StateHeader(
            self._processor.ended(entry.state),
            progress,
            entry.touched,
            self.marker.epoch,
            born=entry.born or 0.0,
            confirmed=self._processor.is_confirmed(entry.state),
            inputs=entry.inputs,
        )
        value = pack(state, known)
        if len(value) > LARGEST:
            self.trimmed += 1
            value = pack(_trimmed(state, entry.name, part), known)
        before = self._stored.get((entry.name, part))
        self._stored[entry.name, part] = value
        made = [self._message(entry.name, part, known.epoch, value)]
        if before is not None and (epoch := header(before).epoch) != known.epoch:
            made.append(self._message(entry.name, part, epoch, None))
        return made

    def _remove(self, name: str, part: str) -> list[Outgoing]:
        value = self._stored.pop((name, part), None)
        return [] if value is None else [self._message(name, part, header(value).epoch, None)]

    def _message(self, name: str, part: str, epoch: int, value: bytes | None) -> Outgoing:
        return Outgoing(self._processor.state_topic, Key(name, part, epoch).encode(), value, self._partition)


def _trimmed(state: msgspec.Struct, name: str, part: str) -> msgspec.Struct:
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
