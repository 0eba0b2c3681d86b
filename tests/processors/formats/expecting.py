"""A job whose lines are read with known formats, and formats that tests state."""

from collections.abc import Sequence

from processors.classify.classifier import LineClassifier
from processors.formats import FormatReader, KnownFormats
from processors.job import JobProcessor
from processors.state import JobState
from processors.stream_reader import StreamReader
from processors.track.tracker import MetricTracker
from schedmate_records import (
    ColumnMeaning,
    EventKind,
    JobEvent,
    JobMetric,
    KnownFormat,
    LogChunk,
    ModelQuestion,
    Position,
    Record,
    Reports,
    TemplateFormat,
)

_CLASSIFIER = LineClassifier()


def stated(
    *templates: tuple[str, str, list[ColumnMeaning]], training: bool = True, person: bool = False, time: float = 1.0
) -> KnownFormat:
    """Return a format; each template is given by its text, a sample line and its columns."""
    return KnownFormat(
        id=f"format/{time}", fingerprint=templates[0][0], time=time, author="m", person=person, training=training,
        templates=[
            TemplateFormat(text, Reports.TRAINING if columns else Reports.NEITHER, columns, sample)
            for text, sample, columns in templates
        ],
    )  # fmt: skip


class Job:
    """One job, chunk by chunk."""

    def __init__(self, *formats: KnownFormat, ask: bool = False) -> None:
        tracker = MetricTracker(formats=FormatReader(KnownFormats(formats), surveys=ask))
        self.processor = JobProcessor(StreamReader(_CLASSIFIER, tracker), ask_models=ask)
        self.state = JobState(job="j")
        self._offset = 0

    def print_lines(self, lines: Sequence[str], seconds: float = 1.0, rank: int = 0) -> list[Record]:
        """Return what follows from lines that arrive `seconds` apart."""
        start = 1000.0 + self._offset
        chunk = LogChunk(
            job="j", producer="p", rank=rank, seq=self._offset, lines=list(lines), time=start,
            after_ms=[round(1000 * seconds * place) for place in range(len(lines))],
            first_line=self._offset + 1, first_piece=self._offset + 1,
        )  # fmt: skip
        made = self.processor.process(self.state, Position("job-logs", 0, self._offset), chunk)
        self._offset += len(lines)
        return made

    def end(self) -> list[Record]:
        """Return what follows from the end of the job."""
        event = JobEvent(id="e", job="j", kind=EventKind.ENDED, time=9000.0, scheduler="x")
        return self.processor.process(self.state, Position("job-events", 0, 0), event)


def metric_of(records: Sequence[Record]) -> JobMetric:
    """Return the newest metric."""
    return [each for each in records if isinstance(each, JobMetric)][-1]


def questions_of(records: Sequence[Record]) -> list[ModelQuestion]:
    """Return the questions."""
    return [each for each in records if isinstance(each, ModelQuestion)]
