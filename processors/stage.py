"""The interface of a stage, a processor of a job: what it reads, its state and its settings.

One record at a time goes through the stages of a job in their order (`processors/job.py`). The results of a stage go to the stages after
it, before the record itself does. Stages are found through the entry points `schedmate.stages`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeVar

import msgspec
from pydantic import BaseModel

from schedmate_records import (
    Checkpoint,
    Failure,
    GpuActivity,
    JobEvent,
    JobMetric,
    ModelAnswer,
    NodeFinding,
    Position,
    Record,
)

from .classified_chunk import ClassifiedChunk
from .settings import NoSettings, ProcessorSettings

S = TypeVar("S", bound=msgspec.Struct)
StageInput = ClassifiedChunk | JobEvent | JobMetric | Checkpoint | Failure | NodeFinding | GpuActivity | ModelAnswer


@dataclass(frozen=True, slots=True)
class StageSettings:
    """The settings that a stage is made from.

    Attributes:
        processors: The section `processors`.
        section: The stage's own section, an instance of `Stage.settings`.
        signatures: The signatures of failures (`processors.diagnose.Signature`); None for those that ship.
        failure_table: The table (`processors.diagnose.failure_question.Table`) that decides where rules and a model disagree on a failure;
            None for the one that ships.
    """

    processors: ProcessorSettings
    section: Any = field(default_factory=NoSettings)
    signatures: Sequence[Any] | None = None
    failure_table: Any = None


class Stage(Generic[S]):
    """One processor of a job. Subclasses implement the methods that they need; the others do nothing.

    A stage holds nothing of a job itself. Its state belongs to one attempt of one job, comes in as an argument and is changed in place.
    The same records on the same state give the same results.

    Attributes:
        name: The name of the entry point, of the state and of the settings section: lower-case letters, digits and `_`.
        state: The type of the state of an attempt. Every field has a default.
        inputs: Topics that it reads in addition to the lines and events of a job, which every stage gets.
        order: Place among the stages, in ascending order; those of the same order run by name. The stages that ship have 10 to 70.
        settings: The model of the settings section `[name]`.
    """

    name: ClassVar[str]
    state: type[S]
    inputs: ClassVar[tuple[str, ...]] = ()
    order: ClassVar[int] = 100
    settings: ClassVar[type[BaseModel]] = NoSettings

    @classmethod
    def from_settings(cls, settings: StageSettings) -> Self:
        """Return the stage for the settings of an operator."""
        return cls()

    def on_chunk(self, chunk: ClassifiedChunk, position: Position, state: S) -> Iterable[Record]:
        """Process new lines of a stream, with their classes. There are none if the stream reports that it is silent."""
        return ()

    def on_event(self, event: JobEvent, position: Position, state: S) -> Iterable[Record]:
        """Process an event of the attempt from the scheduler or the pipe."""
        return ()

    def on_metric(self, metric: JobMetric, position: Position, state: S) -> Iterable[Record]:
        """Process a progress record of the tracker."""
        return ()

    def on_checkpoint(self, checkpoint: Checkpoint, position: Position, state: S) -> Iterable[Record]:
        """Process a record about a save."""
        return ()

    def on_activity(self, activity: GpuActivity, position: Position, state: S) -> Iterable[Record]:
        """Process the activity of the attempt's GPUs on a node."""
        return ()

    def on_finding(self, finding: NodeFinding, position: Position, state: S) -> Iterable[Record]:
        """Process a finding in a node's log or GPUs."""
        return ()

    def on_answer(self, answer: ModelAnswer, position: Position, state: S) -> Iterable[Record]:
        """Process a language model's answer about a verdict."""
        return ()

    def on_begun(self, state: S, former: S) -> None:
        """Take over into the state of an attempt that begins what `former`, of the attempt that began before it, holds of the whole job."""

    def on_superseded(self, job: str, attempt: int, time: float, position: Position, state: S) -> Iterable[Record]:
        """Process the begin of a newer attempt of `job` at `time`, in seconds since 1970. `attempt` may still print lines."""
        return ()

    def on_reopened(self, job: str, attempt: int, time: float, position: Position, state: S) -> Iterable[Record]:
        """Process that an ended attempt goes on, at `time`, in seconds since 1970.

        A pipe reported its end, and the scheduler that reports the job did not.
        """
        return ()

    def metric_groups(self) -> Sequence[object]:
        """Return the metrics of what it is made of, a group for each part."""
        return ()

    def dispatch(self, record: StageInput | Record, position: Position, state: S) -> Iterable[Record]:
        """Return the results of `record`, which is the input at `position` or follows from it."""
        made: Iterable[Record] = ()
        match record:
            case ClassifiedChunk():
                made = self.on_chunk(record, position, state)
            case JobMetric():
                made = self.on_metric(record, position, state)
            case JobEvent():
                made = self.on_event(record, position, state)
            case Checkpoint():
                made = self.on_checkpoint(record, position, state)
            case GpuActivity():
                made = self.on_activity(record, position, state)
            case NodeFinding():
                made = self.on_finding(record, position, state)
            case ModelAnswer():
                made = self.on_answer(record, position, state)
        return made


AnyStage = Stage[Any]
