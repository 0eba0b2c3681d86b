"""What both runtimes do with a batch of messages, without any input or output.

The runtime reads messages, lets the engine handle them, writes the results, waits for the acknowledgements, writes the states,
waits again, and only then commits the input's offsets (docs/architecture.md: how nothing is lost or doubled).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec
import structlog

from processors.job import JobProcessor, decode_state, encode_state
from processors.state import JobState
from records import DeadLetter, InvalidRecord, JobEvent, LogChunk, Record
from streams.accept import accept, refuse
from streams.partition import partition_of
from streams.topics import STATE_TOPIC
from streams.transport import Message, Outgoing, outgoing

log = structlog.get_logger(__name__)

INPUTS = ("job-logs", "job-events")
"""What a job's state is made from. Equal partition counts keep a job's messages on one worker."""


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
    """Messages in another partition than their job's: their producer places keys in its own way, which splits the job's state."""
    made: dict[str, int] = field(default_factory=dict)
    """Records made, by topic."""
    jobs: int = 0
    """Jobs whose state is held now."""
    behind: int = 0
    """Messages not yet handled now, all partitions of this worker together."""


@dataclass
class Results:
    """What follows from a batch. `states` must not be written before `records` are acknowledged."""

    records: list[Outgoing]
    states: list[Outgoing]


@dataclass
class _Entry:
    """A job's state and the bytes it was last written as."""

    state: JobState
    saved: bytes


class Engine:
    """Keeps the states of the jobs of some partitions and runs the processors over their messages."""

    def __init__(self, processor: JobProcessor | None = None, partitions: int | None = None) -> None:
        """Set up; `partitions` is how many the inputs have, to notice misplaced messages, or None."""
        self.processor = processor or JobProcessor()
        self._count = partitions
        self.counters = Counters()
        self._entries: dict[int, dict[str, _Entry]] = {}

    def restore(self, partition: int, messages: Iterable[Message]) -> int:
        """Take over the states that `messages` of the state topic hold, and return how many jobs they are.

        A worker that lost the partition may have written late: of two states of a job the one with more input wins.
        """
        entries: dict[str, _Entry] = {}
        for message in messages:
            if not message.value:
                continue
            try:
                state = decode_state(message.value)
            except msgspec.DecodeError as error:
                log.error("state not readable; the job starts anew", position=message.position, reason=str(error))
                continue
            known = entries.get(state.job)
            if known is None or known.state.progress() < state.progress():
                entries[state.job] = _Entry(state, message.value)
        self._entries[partition] = entries
        return len(entries)

    def forget(self, partition: int) -> None:
        """Drop the states of a partition that went to another worker."""
        self._entries.pop(partition, None)

    @property
    def partitions(self) -> set[int]:
        """The partitions whose states are here."""
        return set(self._entries)

    @property
    def jobs(self) -> int:
        """Number of jobs remembered."""
        return sum(map(len, self._entries.values()))

    def state(self, partition: int, job: str) -> JobState | None:
        """Return the state of `job`, if it is here."""
        entry = self._entries.get(partition, {}).get(job)
        return entry.state if entry else None

    def handle(self, messages: Sequence[Message]) -> Results:
        """Process `messages`, in order within each partition, and return what is to be written."""
        self.counters.messages += len(messages)
        made: list[Record] = []
        groups: dict[tuple[int, str], list[tuple[Message, LogChunk | JobEvent]]] = {}
        for message in messages:
            try:
                record = accept(message)
            except InvalidRecord as error:
                made.append(self._refuse(message, str(error)))
                continue
            if isinstance(record, LogChunk | JobEvent):
                self._check_place(message, record.job)
                groups.setdefault((message.position.partition, record.job), []).append((message, record))
        states = []
        for (partition, job), group in groups.items():
            made += self._run(partition, job, group)
            entry = self._entries[partition][job]
            entry.saved = encode_state(entry.state)
            states.append(Outgoing(STATE_TOPIC, job.encode(), entry.saved, partition))
        self.counters.jobs = self.jobs
        results = [outgoing(record) for record in made]
        for result in results:
            self.counters.made[result.topic] = self.counters.made.get(result.topic, 0) + 1
        return Results(results, states)

    def _run(self, partition: int, job: str, group: list[tuple[Message, LogChunk | JobEvent]]) -> list[Record]:
        """Run the processors over one job's part of a batch.

        A message that makes a processor fail becomes a dead letter, and the others are run again from the state as it was before, so
        that no half-made change stays.
        """
        poison: dict[int, DeadLetter] = {}
        entries = self._entries.setdefault(partition, {})
        entry = entries.setdefault(job, _Entry(JobState(job=job), encode_state(JobState(job=job))))
        while True:
            made: list[Record] = []
            for index, (message, record) in enumerate(group):
                place = message.position
                key = f"{place.topic}/{place.partition}"
                if place.offset <= entry.state.positions.get(key, -1):
                    self.counters.repeated += not poison
                    continue
                entry.state.positions[key] = place.offset
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
                    entry.state = decode_state(entry.saved)
                    break
            else:
                return made

    def _check_place(self, message: Message, job: str) -> None:
        if self._count is None or partition_of(job.encode(), self._count) == message.position.partition:
            return
        if not self.counters.misplaced:
            log.warning(
                "message in another partition than its job's",
                job=job,
                position=message.position,
                then="set the producer's partitioner to murmur2 (librdkafka: partitioner=murmur2_random)",
            )
        self.counters.misplaced += 1

    def _refuse(self, message: Message, reason: str, stage: str = "decode") -> DeadLetter:
        self.counters.dead_letters += 1
        return refuse(message, reason, stage)
