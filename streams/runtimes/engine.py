"""Processing of a batch of messages, the same for both runtimes, without input or output.

The runtime reads messages, lets the engine handle them, writes the results stage by stage, each acknowledged before the next, and only
then commits the input's offsets (docs/architecture.md: how nothing is lost or doubled).
"""

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic

import structlog

from processors.keyed import KeyedProcessor, State
from schedmate_records import DeadLetter, ErrorType, Failure, InvalidRecord, Position, Record, check
from schedmate_records.log_chunk import Lines

from ..accept import accept
from ..transport import Message, Outgoing, outgoing
from .decoder import Decoder, brief
from .failing import FailingWatch
from .metrics import EngineMetrics
from .new_keys import A_SECOND, COMMITTED_S, KEYS
from .order import to_take_again
from .results import Restored, Results
from .retention import CHECKPOINT_S, REPLAY_WORK_S, Retention
from .state_entry import StateEntry
from .states import States
from .tracing import Tracing

log = structlog.get_logger(__name__)

_TOO_MANY = (
    f"expected at most {KEYS:,} new jobs (or nodes) at once in a partition, and {A_SECOND:g} a second, that no scheduler (or node's log) "
    "has reported; got one more: run the scheduler's watcher, and send this message again once the job is known"
)


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
        self.metrics = metrics or EngineMetrics()
        self._decoder = Decoder(partitions, self.metrics)
        self._tracing, self._worker = tracing, secrets.randbits(48)
        self.failing = FailingWatch()
        self._partitions: dict[int, States[State]] = {}
        self._retention = Retention(self._partitions, self.metrics, steady, checkpoint_s, replay_work_s)
        self._work = 0.0

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
        suspect = states.marker.begin(committed, ends or {}, self.processor.replayed, self._worker)
        states.handled = dict(committed)
        states.planned = to_take_again(states.marker.order, committed)
        replay = {
            topic: (start, committed[topic])
            for topic, start in states.marker.replay.items()
            if start < committed[topic]
        }
        states.refused_at = self._steady()
        states.again = {topic: end for topic, (_, end) in replay.items()}
        for topic, _, end in states.planned:
            states.again[topic] = max(end, states.again.get(topic, 0))
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

    def epoch(self, partition: int) -> int:
        """Return the epoch under which this worker writes for a partition whose states are here."""
        return self._partitions[partition].marker.epoch

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
        """Number of states that were too large to be stored and lost their largest part."""
        return sum(states.trimmed for states in self._partitions.values())

    def set_aside(self, message: Message) -> Results:
        """Pass over a message at which workers died; its partition must be restored."""
        states, place = self._partitions[message.position.partition], message.position
        states.marker.aside.append(place)
        letter = self._decoder.refuse(message, "workers died at this message: it was set aside", "quarantine")
        return Results([outgoing(letter)], markers=[states.stored_marker()])

    def plan(self, messages: Sequence[Message]) -> list[Outgoing]:
        """Return the messages that record for the next worker in which order `messages` are handled.

        It must be acknowledged before anything that follows from them is written.
        """
        by_partition: dict[int, list[Position]] = {}
        for message in messages:
            by_partition.setdefault(message.position.partition, []).append(message.position)
        return [self._states(partition).record_order(places) for partition, places in by_partition.items()]

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
                is_limited = states.marker.new_keys.limited and not states.is_stored(name)
                if entry.changed and (
                    is_limited or any(each.position.topic not in self.processor.replayed for each, _ in group)
                ):
                    results.states += states.store_state(entry)
                if chunks := [record for _, record in group if isinstance(record, Lines)]:
                    results.arrivals.append(min(chunk.last_arrival for chunk in chunks))
            if states.marker.new_keys.limited:
                if self._steady() - states.refused_at > COMMITTED_S:
                    states.marker.new_keys.end_limit(states.marker.replay)
                results.limits.append(states.stored_marker())
        results.records = [outgoing(record) for record in made]
        results.explained = [record.time for record in made if isinstance(record, Failure) and _explains(record)]
        if self._tracing:
            every = (each for groups in taken.values() for group in groups.values() for each in group)
            results.spans = self._tracing.begin_spans(every, made)
        for topic, count in Counter(record.topic for record in results.records).items():
            self.metrics.records.labels(topic).inc(count)
        self._work += time.thread_time() - working_since
        self._retention.keep(self._work, results)
        self._count_states()
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
            if found.key is None or found.record is None:
                continue
            group = groups.setdefault(partition, {}).get(found.key)
            if group is None:
                if self.processor.is_claim(found.record) and not states.accepts(found.key, message):
                    states.refused_at = self._steady()
                    self.metrics.refused_keys.inc()
                    made.append(self._decoder.refuse(message, _TOO_MANY, "limit"))
                    continue
                group = groups[partition][found.key] = []
            group.append((message, found.record))
        return groups

    def _run(self, states: States[State], key: str, group: list[tuple[Message, Record]]) -> list[Record]:
        """Run the processor over one key's part of a batch.

        A message that makes it fail becomes a dead letter, and the others are run again from the state as it was before, so that no
        half-made change stays.
        """
        poison: dict[int, DeadLetter] = {}
        entry = states.open(key)
        entry.born = group[0][0].time if entry.born is None else entry.born
        entry.begin()
        while True:
            made: list[Record] = []
            for index, (message, record) in enumerate(group):
                refusal = ""
                try:
                    taken = self._process_record(states, entry, message.position, record, poison.get(index))
                except InvalidRecord as error:  # made from values of the message: no sign of a fault of ours
                    refusal = f"a record that follows from it is out of bounds: {error}"
                except Exception as error:
                    log.exception("processor_failed", position=message.position)
                    self.failing.failed(key)
                    refusal = f"a processor failed with {brief(error)}; please report this"
                if refusal:
                    poison[index] = self._decoder.refuse(message, refusal, "process")
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

    def _process_record(
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
            entry.inputs += 1
            states.note(entry, place.topic, place.offset, (self._work, self._steady()))
        return self._include(entry.state, place, record, poison)

    def _include(
        self, state: State, place: Position, record: Record, poison: DeadLetter | None = None
    ) -> list[Record] | None:
        """Take `record` into `state`, or into its parts alone where the rest includes it; return what follows, None of the latter."""
        if not state.includes(place):
            state.include(place)
            if poison is not None:
                return [poison]
            made = self.processor.process(state, place, record)
            for each in made:
                check(each)  # what its readers refuse is not written: this message becomes the one dead letter
            return made
        if self.processor.parts and poison is None:
            self.processor.replay(state, place, record)
        return None

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
