"""What both runtimes do with a batch of messages, without any input or output.

The runtime reads messages, lets the engine handle them, writes the results stage by stage, each acknowledged before the next, and only
then commits the input's offsets (docs/architecture.md: how nothing is lost or doubled).
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

import structlog

from processors.keyed import KeyedProcessor, State
from records import DeadLetter, ErrorType, Failure, Position, Record
from records.log_chunk import Lines
from streams.accept import accept
from streams.spans import Span
from streams.transport import Message, Outgoing, outgoing

from .decoder import Decoder, brief
from .failing import FailingWatch
from .metrics import EngineMetrics
from .order import Run, beyond
from .state_entry import StateEntry
from .states import States
from .tracing import Tracing

log = structlog.get_logger(__name__)

CHECKPOINT_S = 1.0
"""Seconds between two looks for states to store: what is due waits no longer, and a look at thousands of states costs little."""
REPLAY_WORK_S = 5.0
"""Seconds of processing after which what a state lacks in its topic is stored: so long a restart takes to do it again."""
REPLAY_S = 300.0
"""Seconds after which it is stored in any case: so much of the topic a restart must read again at most."""
OPEN = 4096
"""States that stay decoded, those used last: more jobs than print at one time, at some 10 KB each."""
ENDED_S = 3600.0
"""A state is forgotten so long after it last took something in, where its key has ended: lines may come late."""
SILENT_S = 3 * 86_400.0
"""And so long in any case: as long as input is kept."""
MOST = 200_000
"""States held, beyond which those of silent keys are forgotten sooner: anybody may send records of new keys."""
_SWEPT = 2000
"""States that are looked at in one look for what may be forgotten: some milliseconds of work at most."""


@dataclass
class Results:
    """What follows from a batch, in stages: each is acknowledged before the next one is written.

    Attributes:
        records: What was made of the input.
        states: States without their parts.
        parts: Parts of states, and deletions.
        markers: From where input must be read again.
        began: When work on the batch began, on the monotonic clock.
        arrivals: When the last line of a chunk arrived, in seconds since 1970: of each key the chunk that waits longest.
        explained: When the root line of each first verdict arrived, in seconds since 1970.
        spans: What traces will hold of it.
    """

    records: list[Outgoing] = field(default_factory=list)
    states: list[Outgoing] = field(default_factory=list)
    parts: list[Outgoing] = field(default_factory=list)
    markers: list[Outgoing] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    arrivals: list[float] = field(default_factory=list)
    explained: list[float] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)

    @property
    def stages(self) -> list[list[Outgoing]]:
        """What is to be written, stage by stage."""
        return [stage for stage in (self.records, self.states, self.parts, self.markers) if stage]


@dataclass(frozen=True)
class Restored:
    """What a runtime does before it handles a partition: write `writes`, then read `replay` (begin and end by topic) once more.

    Attributes:
        states: States held.
        suspect: By topic the end of the input at which workers before may have died; empty where none did.
        committed: Next offset of each topic.
        writes: To be written first: from where this worker begins, and what nobody needs any more.
        replay: To be read once more.
        planned: To be handled again, in this order, before anything else.
    """

    states: int
    suspect: dict[str, int]
    committed: dict[str, int]
    writes: list[Outgoing]
    replay: dict[str, tuple[int, int]]
    planned: list[Run]


class Engine(Generic[State]):
    """Keeps the states of the keys of some partitions and runs a processor over their messages."""

    def __init__(
        self,
        processor: KeyedProcessor[State],
        partitions: int | None = None,
        *,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
        checkpoint_s: float = CHECKPOINT_S,
        replay_work_s: float = REPLAY_WORK_S,
        metrics: EngineMetrics | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        """Set up.

        Args:
            processor: What is run.
            partitions: How many the inputs have, to notice misplaced messages; None where not known.
            clock: Seconds since 1970, to measure how late records are.
            steady: Seconds on a clock that never goes back, by which input that is not stored yet ages.
            checkpoint_s: Seconds between two looks for states to store.
            replay_work_s: Seconds of processing that a restart may have to do again.
            metrics: What counts; one of its own by default.
            tracing: Makes spans; None: there are none.
        """
        self.processor = processor
        self._clock, self._steady = clock, steady
        self._checkpoint_s, self._replay_work_s = checkpoint_s, replay_work_s
        self.metrics = metrics or EngineMetrics()
        self._decoder = Decoder(partitions, self.metrics)
        self._tracing = tracing
        self.failing = FailingWatch()
        self._partitions: dict[int, States[State]] = {}
        self._work, self._looked = 0.0, self._steady()
        self._sweep: list[tuple[int, str]] = []

    def load(self, partition: int, messages: Iterable[Message]) -> None:
        """Take over what the state topic holds of a partition, in as many calls as its reader likes; `restore` follows."""
        self._states(partition).load(messages)

    def restore(self, partition: int, committed: dict[str, int], ends: dict[str, int] | None = None) -> Restored:
        """Make ready for a partition whose states were loaded.

        Args:
            partition: Whose states.
            committed: Next offset of each input topic, as committed: input before it needs no further result.
            ends: The end of each input topic, where that is known.
        """
        states = self._states(partition)
        stale = states.loaded()
        suspect = states.marker.begin(committed, ends or {}, self.processor.replayed)
        states.handled = dict(committed)
        states.planned = beyond(states.marker.order, committed)
        replay = {
            topic: (start, committed[topic])
            for topic, start in states.marker.replay.items()
            if start < committed[topic]
        }
        self._count_states()
        return Restored(len(states), suspect, committed, [states.stored_marker(), *stale], replay, states.planned)

    def replay(self, messages: Sequence[Message]) -> None:
        """Take messages that were handled before into the states that lack them; what follows from them was written then.

        That is work, too: states that it has made are stored soon after, so that workers which end often do not begin ever further back.
        """
        self.metrics.replayed.inc(len(messages))
        working_since = time.thread_time()
        for partition, groups in self._groups(messages, []).items():
            for name, group in groups.items():
                self._run(self._partitions[partition], name, group)
        self._work += time.thread_time() - working_since

    def handled(self, partition: int) -> dict[str, int]:
        """Return the next offset of each input topic of a partition whose states are here."""
        return self._partitions[partition].handled

    def forget(self, partition: int) -> None:
        """Drop the states of a partition that went to another worker."""
        self._partitions.pop(partition, None)
        self._count_states()

    @property
    def partitions(self) -> set[int]:
        """The partitions whose states are here."""
        return set(self._partitions)

    @property
    def trimmed(self) -> int:
        """How many states were too large to be stored and lost their largest part."""
        return sum(states.trimmed for states in self._partitions.values())

    def set_aside(self, message: Message) -> Results:
        """Pass over a message at which workers died; its partition must be restored."""
        states, place = self._partitions[message.position.partition], message.position
        states.marker.aside.append(place)
        letter = self._decoder.refuse(message, "workers died at this message: it was set aside", "quarantine")
        return Results([outgoing(letter)], markers=[states.stored_marker()])

    def plan(self, messages: Sequence[Message]) -> list[Outgoing]:
        """Return what tells the next worker in which order `messages` are handled.

        It must be acknowledged before anything that follows from them is written.
        """
        by_partition: dict[int, list[Position]] = {}
        for message in messages:
            by_partition.setdefault(message.position.partition, []).append(message.position)
        return [self._states(partition).take(places) for partition, places in by_partition.items()]

    def handle(self, messages: Sequence[Message]) -> Results:
        """Process `messages`, in order within each partition, and return what is to be written.

        Raises:
            FailingOften: So many messages of so many keys failed that a fault of the processors is likelier than bad input.
        """
        self.metrics.messages.inc(len(messages))
        self.metrics.input.inc(sum(len(message.value) for message in messages))
        working_since = time.thread_time()  # a busy machine takes longer, and does no more work
        results, made = Results(), list[Record]()
        for partition, groups in (taken := self._groups(messages, made)).items():
            states = self._states(partition)
            for name, group in groups.items():
                made += self._run(states, name, group)
                entry = states.open(name)
                if entry.changed and any(each.position.topic not in self.processor.replayed for each, _ in group):
                    results.states += states.store_state(entry)
                if chunks := [record for _, record in group if isinstance(record, Lines)]:
                    results.arrivals.append(min(chunk.last_arrival for chunk in chunks))
        results.records = [outgoing(record) for record in made]
        results.explained = [record.time for record in made if isinstance(record, Failure) and _explains(record)]
        if self._tracing:
            every = (each for groups in taken.values() for group in groups.values() for each in group)
            results.spans = self._tracing.begun(every, made)
        for topic, count in Counter(record.topic for record in results.records).items():
            self.metrics.records.labels(topic).inc(count)
        self._work += time.thread_time() - working_since
        self._checkpoint(results)
        self.metrics.state_written.inc(sum(len(each.value or b"") for each in (*results.states, *results.parts)))
        return results

    def acknowledged(self, results: Results) -> None:
        """Note that the broker has acknowledged all of `results`: how long that took is measured here."""
        now = self._clock()
        self.metrics.batch_duration.observe(time.perf_counter() - results.began)
        for arrival in results.arrivals:
            self.metrics.end_to_end.observe(max(0.0, now - arrival))
        for arrival in results.explained:
            self.metrics.verdict_latency.observe(max(0.0, now - arrival))
        if self._tracing:
            self._tracing.ended(results.spans, now)

    def _states(self, partition: int) -> States[State]:
        if partition not in self._partitions:
            self._partitions[partition] = States(self.processor, partition)
        return self._partitions[partition]

    def _groups(
        self, messages: Sequence[Message], made: list[Record]
    ) -> dict[int, dict[str, list[tuple[Message, Record]]]]:
        """Return what `messages` hold by partition and key, in order; dead letters of the others go to `made`."""
        groups: dict[int, dict[str, list[tuple[Message, Record]]]] = {}
        for message in messages:
            partition = message.position.partition
            states = self._states(partition)
            if message.position in states.marker.aside:
                continue
            states.handled[message.position.topic] = message.position.offset + 1
            states.time = max(states.time, message.time)
            found = self._decoder.decode(message)
            made += found.made
            if found.key is not None and found.record is not None:
                groups.setdefault(partition, {}).setdefault(found.key, []).append((message, found.record))
        return groups

    def _run(self, states: States[State], key: str, group: list[tuple[Message, Record]]) -> list[Record]:
        """Run the processor over one key's part of a batch.

        A message that makes it fail becomes a dead letter, and the others are run again from the state as it was before, so that no
        half-made change stays.
        """
        poison: dict[int, DeadLetter] = {}
        entry = states.open(key)
        entry.begin()
        while True:
            made: list[Record] = []
            for index, (message, record) in enumerate(group):
                try:
                    taken = self._take(states, entry, message.position, record, poison.get(index))
                except Exception as error:
                    log.exception("a processor failed", position=message.position)
                    self.failing.failed(key)
                    poison[index] = self._decoder.refuse(
                        message, f"a processor failed with {brief(error)}; please report this", "process"
                    )
                    for kept in entry.roll_back():
                        self._include(entry.state, kept.position, accept(kept))
                    break
                if taken is not None:
                    made += taken
                else:
                    self.metrics.repeated.inc(not poison)
            else:
                self.failing.handled(len(group))
                entry.copy_anew() if poison else entry.keep([message for message, _ in group])
                return made

    def _take(
        self,
        states: States[State],
        entry: StateEntry[State],
        place: Position,
        record: Record,
        poison: DeadLetter | None,
    ) -> list[Record] | None:
        """Return what follows from `record`; None where the state includes it already."""
        if not entry.state.includes(place):
            entry.touched = states.time
            states.note(entry, place.topic, place.offset, (self._work, self._steady()))
        return self._include(entry.state, place, record, poison)

    def _include(
        self, state: State, place: Position, record: Record, poison: DeadLetter | None = None
    ) -> list[Record] | None:
        """Take `record` into `state`, or into its parts alone where the rest includes it; return what follows, None of the latter."""
        if not state.includes(place):
            state.include(place)
            return self.processor.process(state, place, record) if poison is None else [poison]
        if self.processor.parts and poison is None:
            self.processor.replay(state, place, record)
        return None

    def _checkpoint(self, results: Results) -> None:
        """Store what is due: what has been processed for long, and what must leave the memory."""
        now = self._steady()
        for states in self._partitions.values():
            for entry in states.close(max(OPEN // len(self._partitions), 64)):
                self._store(states, entry, results)
        if now - self._looked < self._checkpoint_s:
            return
        self._looked = now
        self._forget_some(results)
        for states in self._partitions.values():
            stored = len(results.states) + len(results.parts)
            for entry in list(states.dirty.values()):
                work, since = entry.dirty_at
                if self._work - work < self._replay_work_s and now - since < REPLAY_S:
                    break
                self._store(states, entry, results)
            if len(results.states) + len(results.parts) > stored:
                states.marker.replay = states.replay_from()
                results.markers.append(states.stored_marker())
        self._count_states()

    def _store(self, states: States[State], entry: StateEntry[State], results: Results) -> None:
        own, parts = states.store(entry)
        results.states += own
        results.parts += parts

    def _forget_some(self, results: Results) -> None:
        """Look at some of the states that are not in use, all of them in turn; forget those of keys that have ended or are silent."""
        if not self._sweep:
            self._sweep = [(partition, name) for partition, states in self._partitions.items() for name in states]
        held = max(len(self._sweep), sum(map(len, self._partitions.values())), 1)
        silent_s = SILENT_S if held <= MOST else SILENT_S * (MOST / held) ** 8
        for partition, name in self._sweep[-_SWEPT:]:
            states = self._partitions.get(partition)
            known = states.header(name) if states is not None else None
            if states is None or known is None:
                continue
            if states.time - known.touched > (min(ENDED_S, silent_s) if known.ended else silent_s):
                results.parts += states.forget(name)
                self.metrics.forgotten.inc()
        del self._sweep[-_SWEPT:]

    def _count_states(self) -> None:
        self.metrics.states.set(sum(map(len, self._partitions.values())))
        self.metrics.trimmed.set(self.trimmed)


def _explains(failure: Failure) -> bool:
    """Return whether a verdict is the first on its attempt and has a line that explains it: later ones repeat or revise it."""
    return failure.revision == 1 and failure.root is not None and failure.error_type is not ErrorType.NONE


def by_topic(engines: Iterable[Engine[Any]]) -> dict[str, Engine[Any]]:
    """Return the engine of each input topic. Raises `ValueError` where two engines read one topic."""
    found: dict[str, Engine[Any]] = {}
    for engine in engines:
        for topic in engine.processor.inputs:
            if topic in found:
                raise ValueError(f"expected each topic to be read by one engine, got two for {topic!r}")
            found[topic] = engine
    return found
