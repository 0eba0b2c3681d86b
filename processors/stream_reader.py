"""Reads one stream of a job: which of its lines are new, the class of each, and the progress in its reports.

Problems of the log itself are reported to the operators as events of the job.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from prometheus_client import Counter

from schedmate_records import PRODUCER, EventKind, JobEvent, JobMetric, LogChunk, Position, derived_id

from .budget import BudgetState, over_budget
from .classified_chunk import ClassifiedChunk
from .classify.classifier import LineClassifier
from .grammar.extractor import templates
from .new_lines import deduplicate, strip_container_wrapping
from .state import PRODUCERS, StreamState
from .track.metric import Printed
from .track.tracker import MetricTracker


def lines_passed_over(position: Position, chunk: LogChunk) -> JobEvent:
    """Return the event that a job prints more new text than is read."""
    return JobEvent(
        id=derived_id("lines_passed_over", chunk.job, position),
        job=chunk.job,
        attempt=chunk.attempt,
        kind=EventKind.LINES_PASSED_OVER,
        time=chunk.time,
        scheduler=PRODUCER,
        detail=(
            f"expected lines that repeat, got new text line after line from {chunk.stream} of rank {chunk.rank}: what is beyond the "
            "job's budget is not read, except some lines with errors or progress. Does the job print data?"
        ),
    )


def attempt_passed_over(position: Position, chunk: LogChunk, newest: int) -> JobEvent:
    """Return the event that lines of an attempt are passed over: its number is too far above that of the newest known attempt."""
    return JobEvent(
        id=derived_id("attempt_passed_over", chunk.job, position),
        job=chunk.job,
        attempt=newest,
        kind=EventKind.LINES_PASSED_OVER,
        time=chunk.time,
        scheduler=PRODUCER,
        detail=(
            f"expected lines of attempt {newest}, or of a few later ones, got lines of attempt {chunk.attempt}, which no scheduler has "
            "reported: they are not read; check the program that ships them"
        ),
    )


def conflict(stream: StreamState, position: Position, chunk: LogChunk) -> list[JobEvent]:
    """Return an event, once a stream, where two producers write one stream of one rank by turns."""
    if chunk.producer in stream.writers[-1:] or not chunk.producer:
        return []
    if chunk.producer not in stream.writers:
        stream.writers = [*stream.writers, chunk.producer][-PRODUCERS:]
        return []
    if stream.conflict:
        return []
    stream.conflict = True
    return [
        JobEvent(
            id=derived_id("id_conflict", chunk.job, position),
            job=chunk.job,
            attempt=chunk.attempt,
            kind=EventKind.ID_CONFLICT,
            time=chunk.time,
            scheduler=PRODUCER,
            detail=(
                f"expected one producer for {chunk.stream} of rank {chunk.rank}, got lines by turns from "
                f"{' and '.join(stream.writers[-2:])}: are two jobs using one id? give each its own --job, or each process its own --rank"
            ),
        )
    ]


class ReaderMetrics:
    """Metrics of the stream reader."""

    def __init__(self) -> None:
        self.lines = Counter(
            "schedmate_processors_lines",
            "Pieces of text processed: lines, and redraws of progress bars.",
            registry=None,
        )
        self.repeats = Counter(
            "schedmate_processors_repeats", "Pieces skipped because they were processed before.", registry=None
        )
        self.passed_over = Counter(
            "schedmate_processors_passed_over",
            "Pieces of new text beyond their job's budget (`processors/budget.py`). They are treated as blank lines.",
            registry=None,
        )


@dataclass(frozen=True)
class StreamRead:
    """Result of reading a chunk.

    Attributes:
        chunk: Its new lines, with their classes.
        metrics: Progress records of these lines.
        passed_over: New lines that are left unread.
    """

    chunk: ClassifiedChunk
    metrics: Sequence[JobMetric] = ()
    passed_over: int = 0


class StreamReader:
    """Takes chunks into their streams. All that it remembers is in the stream's state, and in the budget of its job."""

    def __init__(self, classifier: LineClassifier | None = None, tracker: MetricTracker | None = None) -> None:
        self.classifier = classifier or LineClassifier()
        self.tracker = tracker or MetricTracker()
        self.metrics = ReaderMetrics()

    def metric_groups(self) -> Sequence[object]:
        """Return the metrics of what it is made of, a group for each part."""
        return (self.metrics, *self.classifier.metric_groups(), self.tracker.metrics)

    def read(
        self,
        chunk: LogChunk,
        position: Position,
        stream: StreamState,
        budget: BudgetState,
        *,
        may_wait: bool = True,
        keep_place: bool = False,
    ) -> StreamRead:
        """Process `chunk`, the input at `position`, in its stream.

        Args:
            chunk: What was printed.
            position: Its position in the input.
            stream: What is remembered of its stream; moves on.
            budget: Pays for its new text.
            may_wait: Reports that follow soon upon the newest metric may wait; `waiting` returns their metrics.
            keep_place: The stream remembers where the chunk is, so that a language model can be asked about its lines.
        """
        stream.offset = position.offset
        source = stream.source_of(chunk.producer)
        first_line = chunk.first_line or source.next_line
        fresh = deduplicate(chunk, source)
        if fresh.repeats:
            self.metrics.repeats.inc(fresh.repeats)
        if not fresh.lines:
            waited = self.waiting(stream)
            for each in stream.sources.values():
                self.tracker.flushed(each.track)
            stream.waiting = None
            return StreamRead(_view(chunk, position), waited)
        self.metrics.lines.inc(len(fresh.lines))
        if keep_place:
            stream.recent.add(chunk, position, first_line, fresh.numbers)
        lines, times = strip_container_wrapping(fresh.lines, fresh.times)
        masked = templates(lines)
        if beyond := over_budget(budget, lines, masked, chunk.time):
            lines, masked = _blanked(lines, beyond), _blanked(masked, beyond)
            self.metrics.passed_over.inc(len(beyond))
        classes = self.classifier.classify(lines, source.classify, masked)
        view = _view(chunk, position, lines=lines, numbers=fresh.numbers, times=times, classes=classes, masked=masked)
        metric = self.tracker.observe(view, source.track, may_wait=may_wait)
        stream.waiting = Printed.of(view) if metric is None and self.tracker.waiting(source.track) else None
        return StreamRead(view, [metric] if metric else [], len(beyond))

    def waiting(self, stream: StreamState) -> list[JobMetric]:
        """Return the metrics of the waiting reports of a stream. The state does not change."""
        printed = stream.waiting
        if printed is None:
            return []
        tracks = [source.track for source in stream.sources.values()]
        return [self.tracker.catch_up(printed, track) for track in tracks if self.tracker.waiting(track)]


def _view(
    chunk: LogChunk,
    position: Position,
    *,
    lines: Sequence[str] = (),
    numbers: Sequence[int] = (),
    times: Sequence[float] = (),
    classes: str = "",
    masked: Sequence[str] = (),
) -> ClassifiedChunk:
    return ClassifiedChunk(
        job=chunk.job,
        attempt=chunk.attempt,
        node=chunk.node,
        rank=chunk.rank,
        stream=chunk.stream,
        position=position,
        time=chunk.time,
        lines=lines,
        numbers=numbers,
        times=times,
        classes=classes,
        templates=masked,
    )


def _blanked(lines: Sequence[str], places: Sequence[int]) -> list[str]:
    """Return `lines` with an empty one at each of `places`."""
    kept = list(lines)
    for place in places:
        kept[place] = ""
    return kept
