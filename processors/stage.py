"""What a processor of a job is: it names what it reads and remembers, and implements what it wants to hear.

One record at a time walks through the stages of a job in their order (`processors/job.py`). What a stage returns goes to the stages
after it, before the record itself does.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

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

S = TypeVar("S", bound=msgspec.Struct)
StageInput = ClassifiedChunk | JobEvent | JobMetric | Checkpoint | Failure | NodeFinding | GpuActivity | ModelAnswer


class Stage(Generic[S]):
    """One processor of a job. Subclasses implement the methods that they need; all else passes them by.

    A stage holds nothing of a job itself. Its state belongs to one attempt of one job, comes in as an argument and is changed in place.
    The same records on the same state give the same results.

    Attributes:
        name: Of its state: the field of `processors.stages.StageStates`.
        inputs: Topics that it reads in addition to the lines and events of a job, which every stage gets.
    """

    name: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]] = ()

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
