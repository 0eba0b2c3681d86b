"""What is remembered of a job between two chunks, in a form that can be stored."""

import msgspec

from .alarms.monitor import AlarmState
from .classify.context import ClassifyContext
from .diagnose.handler import DiagnoseState
from .diagnose.nodes import StaysState, WitnessState
from .interference.monitor import InterferenceState
from .keyed import KeyedState
from .models.template_check import Template
from .source import Numbering
from .track.ranks import RanksState
from .track.state import TrackState

MAX_SOURCES = 4096
"""Streams of ranks that one job may have; beyond it the longest silent one is forgotten."""


class SourceState(Numbering):
    """One producer's stream of one rank of one attempt.

    Attributes:
        classify: What the line classifier carries from chunk to chunk.
        track: What the metric tracker carries.
    """

    classify: ClassifyContext = msgspec.field(default_factory=ClassifyContext)
    track: TrackState = msgspec.field(default_factory=TrackState)


class JobState(KeyedState, kw_only=True):
    """Everything remembered of one job.

    Attributes:
        job: The job.
        attempt: Newest attempt seen.
        sources: By attempt, rank, stream and producer.
        writers: Producers of a rank's stream in the order in which they first wrote, to notice two jobs under one id.
        conflicts: Streams whose conflict was reported.
        diagnose: What the failure handler carries.
        interference: What the interference monitor carries.
        ranks: The newest step time of each rank.
        alarms: What the alarm monitor carries.
        templates: What language models explained of its log.
        stays: On which nodes the newest attempt is.
        witness: What those nodes said, and what it makes of the verdict.
        scheduled: Whether a scheduler spoke of it.
    """

    job: str
    attempt: int = 0
    sources: dict[str, SourceState] = {}
    writers: dict[str, list[str]] = {}
    conflicts: list[str] = []
    diagnose: DiagnoseState = msgspec.field(default_factory=DiagnoseState)
    interference: InterferenceState = msgspec.field(default_factory=InterferenceState)
    ranks: RanksState = msgspec.field(default_factory=RanksState)
    alarms: AlarmState = msgspec.field(default_factory=AlarmState)
    templates: list[Template] = []
    stays: StaysState = msgspec.field(default_factory=StaysState)
    witness: WitnessState = msgspec.field(default_factory=WitnessState)
    scheduled: bool = False
