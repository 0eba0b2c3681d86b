"""State of a job between two chunks, in a form that can be stored."""

from collections.abc import Iterator, MutableMapping
from typing import TypeVar

import msgspec
import structlog

from schedmate_records import NOT_JSON, ModelAnswer, NodeFinding, Position

from .budget import BudgetState
from .classify.context import ClassifyContext
from .incarnation import FORMER
from .keyed import KeyedState, Part
from .new_lines import Numbering
from .recent_chunks import RecentChunks
from .stage import Stage
from .track.metric import Printed
from .track.ranks import RanksState
from .track.state import TrackState

log = structlog.get_logger(__name__)

S = TypeVar("S", bound=msgspec.Struct)

PRODUCERS = 8
"""Maximum number of producers of one stream. Beyond it, the one that was silent longest is deleted."""


class SourceState(Numbering):
    """One producer's stream of one rank of one attempt.

    Attributes:
        classify: What the line classifier carries from chunk to chunk.
        track: What the metric tracker carries.
    """

    classify: ClassifyContext = msgspec.field(default_factory=ClassifyContext)
    track: TrackState = msgspec.field(default_factory=TrackState)


class StreamState(Part):
    """One stream of one rank of one attempt.

    Attributes:
        sources: By producer.
        writers: Producers in the order in which they first wrote, to notice two jobs under one id.
        conflict: Whether that was reported.
        waiting: Who printed the newest of the reports that no metric was made of; null where there are none.
        recent: Its newest chunks, where language models may be asked about them.
    """

    sources: dict[str, SourceState] = {}
    writers: list[str] = []
    conflict: bool = False
    waiting: Printed | None = None
    recent: RecentChunks = msgspec.field(default_factory=RecentChunks)

    def source_of(self, producer: str) -> SourceState:
        """Return a producer's part, a fresh one where it is not known; the longest silent one then makes room."""
        known = self.sources.get(producer)
        if known is None:
            if len(self.sources) >= PRODUCERS:
                del self.sources[min(self.sources, key=lambda name: self.sources[name].updated)]
            known = self.sources[producer] = SourceState()
        return known


class AttemptState(msgspec.Struct, kw_only=True):
    """Everything remembered of one attempt of a job, but its streams.

    Attributes:
        stages: State of each stage by its name; as it was stored until the stage needs it. `state_of` returns it.
        began: Time of its first record, or of the first event in which a scheduler reported it, in seconds since 1970.
        reported: A scheduler reported it; users' records alone only claim it (`attempts.py`).
        records: Number of chunks and events of it.
        ended: Whether its end was reported.
        waiting: Streams with reports that no metric was made of.
        passed_over: Whether it was reported that lines are skipped.
        newest_stream: Name of the stream that printed last.
        sampled: Names of the streams whose lines are kept for questions about their formats.
        ranks: The newest step time of each rank.
        open_ranks: Ranks that pipes reported as started, and not yet as ended.
        rank_exit: Exit code and signal of the first rank that failed, else of the last that ended.
    """

    stages: dict[str, msgspec.Raw] = {}
    began: float
    reported: bool = False
    records: int = 0
    ended: bool = False
    waiting: list[str] = []
    passed_over: bool = False
    newest_stream: str = ""
    sampled: list[str] = []
    ranks: RanksState = msgspec.field(default_factory=RanksState)
    open_ranks: set[int] = set()
    rank_exit: tuple[int | None, int | None] = (0, 0)

    def state_of(self, stage: Stage[S]) -> S:
        """Return the state of a stage, which the stage changes in place. One that cannot be read begins anew."""
        stages: dict[str, msgspec.Struct] = self.stages  # type: ignore[assignment]  # `Raw` is how they come from the topic
        known = stages.get(stage.name)
        if isinstance(known, stage.state):
            return known
        made = stage.state()
        if isinstance(known, msgspec.Raw):
            try:
                made = msgspec.json.decode(known, type=stage.state)
            except NOT_JSON as error:
                log.error("state_not_readable", stage=stage.name, error=str(error), then="it starts anew")
        stages[stage.name] = made
        return made


class Early(msgspec.Struct, frozen=True):
    """A finding or an answer about an attempt without a record yet, and its place."""

    position: Position
    finding: NodeFinding | None = None
    answer: ModelAnswer | None = None


class JobState(KeyedState, kw_only=True):
    """Everything remembered of one job.

    Attributes:
        job: The job.
        attempts: The attempts that are followed, by number, in the order in which they began.
        attempt_refused: An event stated that lines of an attempt were passed over because its number is too high.
        early: Newest findings and answers about an attempt without a record yet.
        streams: By `stream_name`; the parts of this state.
        format_questions: Number of questions about the formats of its streams.
        incarnation: Which job of this id it is; empty where not known.
        former_incarnations: Incarnations that were replaced, the oldest first.
        generation: Number of incarnations that were replaced.
        replaced_at: `positions` when the newest of them was replaced.
        last_seen: Time of the newest chunk or event, in seconds since 1970.
        scheduled: Whether a scheduler reported it.
        budget: How much new text is still read.
    """

    job: str
    attempts: dict[int, AttemptState] = {}
    attempt_refused: bool = False
    early: list[Early] = []
    streams: MutableMapping[str, StreamState] = {}
    format_questions: int = 0
    incarnation: str = ""
    former_incarnations: list[str] = []
    generation: int = 0
    replaced_at: dict[str, int] = {}
    last_seen: float = 0.0
    scheduled: bool = False
    budget: BudgetState = msgspec.field(default_factory=BudgetState)

    @property
    def newest(self) -> AttemptState | None:
        """The newest attempt, of those that a scheduler reported where it reported any; None before the first record."""
        reported = [number for number, attempt in self.attempts.items() if attempt.reported]
        return self.attempts[max(reported or self.attempts)] if self.attempts else None

    @property
    def is_over(self) -> bool:
        """Whether the newest attempt has ended."""
        return self.newest is not None and self.newest.ended

    def sources(self) -> Iterator[SourceState]:
        """Yield the sources of all streams."""
        for stream in self.streams.values():
            yield from stream.sources.values()

    def stream_of(self, attempt: int, rank: int, stream: str) -> StreamState:
        """Return a stream, a fresh one where it is not known; the one that began first then makes room."""
        name = self.stream_name(attempt, rank, stream)
        known = self.streams.get(name)
        if known is None:
            if len(self.streams) >= 32_768:
                del self.streams[next(iter(self.streams))]
            known = self.streams[name] = StreamState()
        return known

    def stream_name(self, attempt: int, rank: int, stream: str) -> str:
        """Return what `streams` calls a stream. No two incarnations share a name, so a stored part never continues another job's."""
        return f"{attempt}/{rank}/{stream}" + (f"/{self.generation}" if self.generation else "")

    def replace_incarnation(self, incarnation: str) -> None:
        """Forget all of the present incarnation but its name, and begin another."""
        for name in list(self.streams):
            del self.streams[name]
        fresh = JobState(
            job=self.job,
            positions=self.positions,
            streams=self.streams,
            incarnation=incarnation,
            former_incarnations=[*self.former_incarnations, self.incarnation][-FORMER:],
            generation=self.generation + 1,
            replaced_at=dict(self.positions),
        )
        for field in self.__struct_fields__:
            setattr(self, field, getattr(fresh, field))
