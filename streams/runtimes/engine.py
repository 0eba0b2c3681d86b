"""What both runtimes do with a batch of messages, without any input or output.

The runtime reads messages, lets the engine handle them, writes the results, waits for the acknowledgements, writes the states,
waits again, and only then commits the input's offsets (docs/architecture.md: how nothing is lost or doubled).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

import msgspec
import structlog

from processors.keyed import KeyedProcessor, State
from processors.models.inquirer import Inquirer
from processors.models.inquiry import Inquiry
from records import BY_NAME, DeadLetter, InvalidRecord, Record
from streams.accept import accept, refuse
from streams.partition import partition_of
from streams.transport import Message, Outgoing, outgoing

log = structlog.get_logger(__name__)


@dataclass
class Counters:
    """What one engine has done."""

    messages: int = 0
    """Messages taken, repeats included."""
    repeated: int = 0
    """Messages whose position a state included already."""
    dead_letters: int = 0
    """Messages that could not be read or processed."""
    misplaced: int = 0
    """Messages in another partition than their key's: their producer places keys in its own way, which splits a job's or node's state."""
    made: dict[str, int] = field(default_factory=dict)
    """Records made, by topic."""
    states: int = 0
    """States held now: one a job, or one a node."""
    behind: int = 0
    """Messages not yet handled now, all partitions of this worker together."""


@dataclass
class Results:
    """What follows from a batch. `states` must not be written before `records` are acknowledged.

    `questions` are no results: they are offered to a language model once the batch is committed, and may be lost.
    """

    records: list[Outgoing]
    states: list[Outgoing]
    questions: list[Inquiry]


@dataclass
class _Entry(Generic[State]):
    """A key's state and the bytes it was last written as."""

    state: State
    saved: bytes


class Engine(Generic[State]):
    """Keeps the states of the keys of some partitions and runs a processor over their messages."""

    def __init__(
        self, processor: KeyedProcessor[State], partitions: int | None = None, inquirer: Inquirer | None = None
    ) -> None:
        """Set up.

        Args:
            processor: What is run.
            partitions: How many the inputs have, to notice misplaced messages; None where not known.
            inquirer: What collects the processor's questions to a language model; None where nobody is asked.
        """
        self.processor = processor
        self._inquirer = inquirer
        self._count = partitions
        self.counters = Counters()
        self._entries: dict[int, dict[str, _Entry[State]]] = {}
        self._decoder = msgspec.json.Decoder(processor.state)

    def restore(self, partition: int, messages: Iterable[Message]) -> int:
        """Take over the states that `messages` of the state topic hold, and return how many they are.

        A worker that lost the partition may have written late: of two states of a key the one with more input wins.
        """
        entries: dict[str, _Entry[State]] = {}
        for message in messages:
            if not message.value:
                continue
            try:
                state = self._decoder.decode(message.value)
            except msgspec.DecodeError as error:
                log.error("state not readable; its key starts anew", position=message.position, reason=str(error))
                continue
            key = (message.key or b"").decode()
            known = entries.get(key)
            if known is None or known.state.progress() < state.progress():
                entries[key] = _Entry(state, message.value)
        self._entries[partition] = entries
        return len(entries)

    def forget(self, partition: int) -> None:
        """Drop the states of a partition that went to another worker."""
        self._entries.pop(partition, None)

    @property
    def partitions(self) -> set[int]:
        """The partitions whose states are here."""
        return set(self._entries)

    def handle(self, messages: Sequence[Message]) -> Results:
        """Process `messages`, in order within each partition, and return what is to be written."""
        self.counters.messages += len(messages)
        made: list[Record] = []
        groups: dict[tuple[int, str], list[tuple[Message, Record]]] = {}
        for message in messages:
            try:
                record = accept(message)
            except InvalidRecord as error:
                made.append(self._refuse(message, str(error)))
                continue
            key = BY_NAME[message.position.topic].key_of(record)
            self._check_place(message, key)
            groups.setdefault((message.position.partition, key.decode()), []).append((message, record))
        states = []
        for (partition, name), group in groups.items():
            made += self._run(partition, name, group)
            entry = self._entries[partition][name]
            entry.saved = msgspec.json.encode(entry.state)
            states.append(Outgoing(self.processor.state_topic, name.encode(), entry.saved, partition))
        self.counters.states = sum(map(len, self._entries.values()))
        results = [outgoing(record) for record in made]
        for result in results:
            self.counters.made[result.topic] = self.counters.made.get(result.topic, 0) + 1
        return Results(results, states, self._inquirer.take() if self._inquirer else [])

    def _run(self, partition: int, key: str, group: list[tuple[Message, Record]]) -> list[Record]:
        """Run the processor over one key's part of a batch.

        A message that makes it fail becomes a dead letter, and the others are run again from the state as it was before, so that no
        half-made change stays.
        """
        poison: dict[int, DeadLetter] = {}
        entries = self._entries.setdefault(partition, {})
        if key not in entries:
            fresh = self.processor.fresh(key)
            entries[key] = _Entry(fresh, msgspec.json.encode(fresh))
        entry = entries[key]
        while True:
            made: list[Record] = []
            for index, (message, record) in enumerate(group):
                place = message.position
                part = f"{place.topic}/{place.partition}"
                if place.offset <= entry.state.positions.get(part, -1):
                    self.counters.repeated += not poison
                    continue
                entry.state.positions[part] = place.offset
                if index in poison:
                    made.append(poison[index])
                    continue
                try:
                    made += self.processor.process(entry.state, place, record)
                except Exception as error:
                    log.exception("a processor failed", position=place)
                    poison[index] = self._refuse(
                        message, f"a processor failed with {error!r}; please report this", "process"
                    )
                    entry.state = self._decoder.decode(entry.saved)
                    break
            else:
                return made

    def _check_place(self, message: Message, key: bytes) -> None:
        if self._count is None or partition_of(key, self._count) == message.position.partition:
            return
        if not self.counters.misplaced:
            log.warning(
                "message in another partition than its key's",
                key=key.decode(),
                position=message.position,
                then="set the producer's partitioner to murmur2 (librdkafka: partitioner=murmur2_random)",
            )
        self.counters.misplaced += 1

    def _refuse(self, message: Message, reason: str, stage: str = "decode") -> DeadLetter:
        self.counters.dead_letters += 1
        return refuse(message, reason, stage)


def by_topic(engines: Iterable[Engine[Any]]) -> dict[str, Engine[Any]]:
    """Return the engine of each input topic. Raises `ValueError` where two engines read one topic."""
    found: dict[str, Engine[Any]] = {}
    for engine in engines:
        for topic in engine.processor.inputs:
            if topic in found:
                raise ValueError(f"expected each topic to be read by one engine, got two for {topic!r}")
            found[topic] = engine
    return found
