"""What is remembered of a job between two chunks, in a form that can be stored."""

from collections.abc import Iterator, MutableMapping

import msgspec

from .alarms.monitor import AlarmState
from .budget import BudgetState
from .classify.context import ClassifyContext
from .diagnose.handler import DiagnoseState
from .diagnose.nodes import StaysState, WitnessState
from .interference.monitor import InterferenceState
from .keyed import KeyedState, Part
from .recent_chunks import RecentChunks
from .source import Numbering
from .track.ranks import RanksState
from .track.state import TrackState
from .track.template_reading import TemplateQuestions
from .track.template_reading.check import Template
from .track.tracker import Printed

STREAMS = 32_768
"""Streams of ranks that one job may have; beyond it the one that began first is forgotten."""
WAITING = 256
"""Streams of a job whose reports that wait are told at its end; those of further ones wait for their stream's next chunk."""
PRODUCERS = 8
"""Producers of one stream that are told apart; beyond it the longest silent one is forgotten."""


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
        recent: Its newest chunks, where a language model may be asked about them.
    """

    sources: dict[str, SourceState] = {}
    writers: list[str] = []
    conflict: bool = False
    waiting: Printed | None = None
    recent: RecentChunks = msgspec.field(default_factory=RecentChunks)


def stream_name(attempt: int, rank: int, stream: str) -> str:
    """Return what `JobState.streams` calls a stream."""
    return f"{attempt}/{rank}/{stream}"


class JobState(KeyedState, kw_only=True):
    """Everything remembered of one job.

    Attributes:
        job: The job.
        attempt: Newest attempt seen.
        streams: By `stream_name`; the parts of this state.
        waiting: Streams with reports that no metric was made of.
        diagnose: What the failure handler carries.
        interference: What the interference monitor carries.
        ranks: The newest step time of each rank.
        alarms: What the alarm monitor carries.
        templates: What language models explained of its log.
        template_questions: What they were asked about it.
        newest_stream: Name of the stream of the newest attempt that printed last.
        stays: On which nodes the newest attempt is.
        witness: What those nodes said, and what it makes of the verdict.
        scheduled: Whether a scheduler spoke of it.
        budget: How much new text is still read.
    """

    job: str
    attempt: int = 0
    streams: MutableMapping[str, StreamState] = {}
    waiting: list[str] = []
    diagnose: DiagnoseState = msgspec.field(default_factory=DiagnoseState)
    interference: InterferenceState = msgspec.field(default_factory=InterferenceState)
    ranks: RanksState = msgspec.field(default_factory=RanksState)
    alarms: AlarmState = msgspec.field(default_factory=AlarmState)
    templates: list[Template] = []
    template_questions: TemplateQuestions = msgspec.field(default_factory=TemplateQuestions)
    newest_stream: str = ""
    stays: StaysState = msgspec.field(default_factory=StaysState)
    witness: WitnessState = msgspec.field(default_factory=WitnessState)
    scheduled: bool = False
    budget: BudgetState = msgspec.field(default_factory=BudgetState)

    def sources(self) -> Iterator[SourceState]:
        """Yield the sources of all streams."""
        for stream in self.streams.values():
            yield from stream.sources.values()
