"""All processors of a job, one after the other: the path of one chunk of lines.

chunk → new pieces → classes → reports → metric → slowdown, alarms
↘ candidates → failure
a model's answer → revision of a failure, or one more reading of reports
where the job is → stays on nodes; what a node said → revision of a failure
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import msgspec
from prometheus_client import Counter

from records import (
    PIPE,
    PRODUCER,
    EventKind,
    Failure,
    JobEvent,
    JobMetric,
    LogChunk,
    ModelAnswer,
    NodeFinding,
    Position,
    Record,
    derived_id,
)

from .alarms.monitor import AlarmMonitor
from .budget import BudgetState, over_budget
from .carried import unwrapped
from .classify.classifier import LineClassifier
from .classify.template import templates
from .diagnose.ending import Ending
from .diagnose.handler import FailureHandler
from .diagnose.nodes import NodeWitness, end, follow
from .interference.monitor import InterferenceMonitor
from .models.inquirer import Inquirer
from .models.reviewer import FailureReviewer
from .source import admit
from .state import PRODUCERS, STREAMS, WAITING, JobState, SourceState, StreamState, stream_name
from .track import learned
from .track.ranks import together
from .track.tracker import MetricTracker, Printed
from .view import PROGRESS, ChunkView


class ProcessorMetrics:
    """What the processors of this process have done."""

    def __init__(self) -> None:
        self.lines = Counter(
            "schedmate_processors_lines",
            "Pieces of text processed: lines, and redraws of progress bars.",
            registry=None,
        )
        self.repeats = Counter(
            "schedmate_processors_repeats", "Pieces left out because they were seen before.", registry=None
        )
        self.passed_over = Counter(
            "schedmate_processors_passed_over",
            "Pieces of new text beyond their job's budget (`processors/budget.py`): taken for blank lines.",
            registry=None,
        )


@dataclass(frozen=True)
class _Read:
    """What a stream makes of a chunk.

    Attributes:
        view: The lines that are new; None where none are.
        metric: What they say of the training.
        open_template: A model may be asked what they say.
        passed_over: Lines that are left unread.
        waited: What reports say that waited for more, and now a silence has come.
    """

    view: ChunkView | None = None
    metric: JobMetric | None = None
    open_template: bool = False
    passed_over: int = 0
    waited: Sequence[JobMetric] = ()


class JobProcessor:
    """The `KeyedProcessor` of jobs."""

    inputs = ("job-logs", "job-events", "pipe-events", "model-answers", "node-findings")
    replayed = ("job-logs",)
    state_topic = "job-state"
    state = JobState
    parts = "streams"
    part = StreamState

    def __init__(
        self,
        *,
        classifier: LineClassifier | None = None,
        tracker: MetricTracker | None = None,
        handler: FailureHandler | None = None,
        monitor: InterferenceMonitor | None = None,
        alarms: AlarmMonitor | None = None,
        inquirer: Inquirer | None = None,
    ) -> None:
        self.classifier = classifier or LineClassifier()
        self.tracker = tracker or MetricTracker()
        self.handler = handler or FailureHandler()
        self.monitor = monitor or InterferenceMonitor()
        self.alarms = alarms or AlarmMonitor()
        self.witness = NodeWitness(self.handler.signatures)
        self.reviewer = FailureReviewer()
        self.inquirer = inquirer
        self.metrics = ProcessorMetrics()

    @property
    def metric_groups(self) -> list[object]:
        """The metrics of this processor and of all its parts."""
        parts = (self.classifier, self.tracker, self.handler, self.monitor, self.alarms, self.witness, self.reviewer)
        return [self.metrics, *(part.metrics for part in parts)]

    def fresh(self, key: str) -> JobState:
        """Return the state of job `key` before its first record."""
        return JobState(job=key)

    def process(self, state: JobState, position: Position, record: Record) -> list[Record]:
        """Return the records that follow from `record`, which stands at `position`; `state` then includes it."""
        match record:
            case LogChunk():
                return self._chunk(state, position, record)
            case JobEvent():
                return self._event(state, position, record)
            case ModelAnswer():
                return self._answer(state, position, record)
            case NodeFinding():
                return self._told(state, position, record)
            case _:
                raise TypeError(f"expected a record of {' or '.join(self.inputs)}, got {type(record).__name__}")

    def replay(self, state: JobState, position: Position, record: Record) -> None:
        """Take a chunk into the stream that lacks it; all else in `state` includes it already."""
        if isinstance(record, LogChunk) and record.attempt >= state.attempt - 1:
            stream = _stream(state, record)
            if stream.offset < position.offset:
                self._read(state, stream, position, record, copy(state.budget))

    def ended(self, state: JobState) -> bool:
        """Return whether the newest attempt has ended."""
        return state.alarms.over

    def _chunk(self, state: JobState, position: Position, chunk: LogChunk) -> list[Record]:
        results: list[Record] = [*follow(chunk, state.stays)]
        _begin_attempt(state, chunk.attempt)
        stream = _stream(state, chunk)
        conflict = _conflict(stream, position, chunk)
        if conflict:
            results.append(conflict)
        name = stream_name(chunk.attempt, chunk.rank, chunk.stream)
        read = self._read(state, stream, position, chunk, state.budget)
        view = read.view
        if read.passed_over:
            results += _passed_over(state, position, chunk)
        if view is None:
            for metric in () if state.alarms.over else read.waited:  # the end has told them already
                results += self._measured(metric, position, state)
            return [*results, *self._heard(chunk, chunk.time, position, state, alive=False)]
        if read.metric:
            results += self._measured(read.metric, position, state)
        elif stream.waiting and len(state.waiting) < WAITING and name not in state.waiting:
            state.waiting.append(name)
        if read.open_template and self.inquirer is not None:
            self.inquirer.left_open(view)
        results += self._said(self.handler.observe(view, state.diagnose), state, position)
        results += self._heard(chunk, view.times[-1], position, state, alive=PROGRESS in view.classes)
        return results

    def _read(
        self, state: JobState, stream: StreamState, position: Position, chunk: LogChunk, budget: BudgetState
    ) -> "_Read":
        """Take a chunk into its stream, which alone changes, and pay for its new text."""
        stream.offset = position.offset
        source = _source(stream, chunk)
        fresh = admit(chunk, source)
        self.metrics.repeats.inc(fresh.repeats)
        if not fresh.lines:
            waited = self._waiting(stream)
            for each in stream.sources.values():
                self.tracker.told(each.track)
            stream.waiting = None
            return _Read(waited=waited)
        self.metrics.lines.inc(len(fresh.lines))
        lines, times = unwrapped(fresh.lines, fresh.times)
        masked = templates(lines)
        if beyond := over_budget(budget, lines, masked, chunk.time):
            lines, masked = _blanked(lines, beyond), _blanked(masked, beyond)
            self.metrics.passed_over.inc(len(beyond))
        view = ChunkView(
            job=chunk.job,
            attempt=chunk.attempt,
            node=chunk.node,
            rank=chunk.rank,
            stream=chunk.stream,
            position=position,
            lines=lines,
            numbers=fresh.numbers,
            times=times,
            classes=self.classifier.classify(lines, source.classify, masked),
            templates=masked,
        )
        look = self.inquirer is not None and self.inquirer.read(view)
        metric = self.tracker.observe(view, source.track, state.templates, may_wait=not state.alarms.over)
        stream.waiting = Printed.of(view) if metric is None and self.tracker.waiting(source.track) else None
        return _Read(view, metric, look and learned.left_open(source.track), len(beyond))

    def _waiting(self, stream: StreamState) -> list[JobMetric]:
        """Return the metrics of the reports of a stream that wait for more; nothing changes."""
        printed = stream.waiting
        if printed is None:
            return []
        tracks = [source.track for source in stream.sources.values()]
        return [self.tracker.catch_up(printed, track) for track in tracks if self.tracker.waiting(track)]

    def _measured(self, metric: JobMetric, position: Position, state: JobState) -> list[Record]:
        if metric.method == learned.METHOD:
            return [metric]  # a slowdown leads to an action, and a model's reading to none
        metric = together(metric, state.ranks)
        alarms = self.alarms.measured(metric, position, state.alarms)
        slowdown = self.monitor.measured(metric, state.interference)
        return [metric, slowdown, *alarms] if slowdown else [metric, *alarms]

    def _heard(
        self, chunk: LogChunk, time: float, position: Position, state: JobState, *, alive: bool
    ) -> Sequence[Record]:
        return self.alarms.heard(chunk.job, chunk.attempt, time, position, state.alarms, alive=alive)

    def _said(self, verdicts: Sequence[Failure], state: JobState, position: Position) -> list[Failure]:
        """Note the verdicts just said. What the nodes make of the last takes its place: one that is not in force would undo a decision."""
        weighed = _next(self.witness.said(verdicts, state.witness), state)
        return self._looked_at([*verdicts[:-1], *weighed] if weighed else verdicts, state, position)

    def _told(self, state: JobState, position: Position, finding: NodeFinding) -> list[Record]:
        """Take what a node said of an attempt; one that is over stays as it was judged."""
        if not finding.job or finding.attempt < state.attempt:
            return []
        return [*self._looked_at(_next(self.witness.heard(finding, state.witness), state), state, position)]

    def _looked_at(self, verdicts: Sequence[Failure], state: JobState, position: Position) -> list[Failure]:
        """Return the verdicts and what models answered already; a second look is asked for at the last."""
        if verdicts and self.inquirer is not None:
            self.inquirer.said(verdicts[-1], position.partition)
        return self.reviewer.said(verdicts, state.diagnose)

    def _answer(self, state: JobState, position: Position, answer: ModelAnswer) -> list[Record]:
        if answer.review is not None:
            return list(self.reviewer.answered(answer, position, state.diagnose))
        state.templates = learned.remember(answer, state.templates)
        source = _printed(state, answer)
        template = next((each for each in state.templates if each.key == answer.about), None)
        if source is None or template is None:
            return []
        metric = learned.completed(
            None, learned.recall(answer, position, template, source.track.followed), source.track
        )
        return [metric] if metric else []

    def _event(self, state: JobState, position: Position, event: JobEvent) -> list[Record]:
        if event.scheduler == PIPE and state.scheduled:
            return []  # one command of a job that its scheduler speaks of: the job goes on, or its end is told better
        state.scheduled |= event.scheduler not in ("", PIPE, PRODUCER)
        stays = follow(event, state.stays)
        _begin_attempt(state, event.attempt)
        if event.kind is EventKind.PACKED:
            self.monitor.packed(event, position, state.interference)
        elif event.kind is EventKind.UNPACKED:
            self.monitor.unpacked(event, state.interference)
        elif event.kind is EventKind.ENDED:
            ending = Ending(
                job=event.job,
                attempt=event.attempt,
                position=position,
                time=event.time,
                exit_code=event.exit_code,
                signal=event.signal,
                state=event.state,
                nodes=event.nodes,
            )
            streams = [stream for name in state.waiting if (stream := state.streams.get(name))]
            measured = [
                each
                for stream in streams
                for metric in self._waiting(stream)
                for each in self._measured(metric, position, state)
            ]
            state.waiting = []
            over = self.alarms.ended(event.job, event.attempt, event.time, position, state.alarms)
            stays += end(event.job, event.attempt, event.time, state.stays)
            verdicts = self._said(self.handler.conclude(ending, state.diagnose), state, position)
            return [*stays, *measured, *verdicts, *over]
        return [*stays]


def _begin_attempt(state: JobState, attempt: int) -> None:
    """Forget what belongs to attempts before the last one."""
    if attempt > state.attempt:
        state.attempt, state.waiting = attempt, []
        for name in [name for name in state.streams if int(name.split("/", 1)[0]) < attempt - 1]:
            del state.streams[name]
        state.budget.reported = False


def _blanked(lines: Sequence[str], places: Sequence[int]) -> list[str]:
    """Return `lines` with an empty one at each of `places`."""
    kept = list(lines)
    for place in places:
        kept[place] = ""
    return kept


def _passed_over(state: JobState, position: Position, chunk: LogChunk) -> list[JobEvent]:
    """Return an event, once an attempt, when lines are passed over."""
    if state.budget.reported:
        return []
    state.budget.reported = True
    return [
        JobEvent(
            id=derived_id("lines_passed_over", chunk.job, position),
            job=chunk.job,
            attempt=chunk.attempt,
            kind=EventKind.LINES_PASSED_OVER,
            time=chunk.time,
            scheduler=PRODUCER,
            detail=(
                f"expected lines that repeat, got new text line after line from {chunk.stream} of rank {chunk.rank}: what is beyond the "
                "job's budget is not read, apart from some lines that tell of errors or progress; is it printing data?"
            ),
        )
    ]


def _next(revision: Failure | None, state: JobState) -> list[Failure]:
    """Return the verdict that nodes changed, if any, as the next revision."""
    if revision is None:
        return []
    state.diagnose.revision += 1
    return [msgspec.structs.replace(revision, revision=state.diagnose.revision)]


def _stream(state: JobState, chunk: LogChunk) -> StreamState:
    name = stream_name(chunk.attempt, chunk.rank, chunk.stream)
    stream = state.streams.get(name)
    if stream is None:
        if len(state.streams) >= STREAMS:
            del state.streams[next(iter(state.streams))]
        stream = state.streams[name] = StreamState()
    return stream


def _source(stream: StreamState, chunk: LogChunk) -> SourceState:
    source = stream.sources.get(chunk.producer)
    if source is None:
        if len(stream.sources) >= PRODUCERS:
            del stream.sources[min(stream.sources, key=lambda name: stream.sources[name].updated)]
        source = stream.sources[chunk.producer] = SourceState()
    return source


def _printed(state: JobState, answer: ModelAnswer) -> SourceState | None:
    """Return the newest of the sources that printed the lines which `answer` explains."""
    stream = state.streams.get(stream_name(answer.attempt, answer.rank, answer.stream))
    return max(stream.sources.values(), key=lambda source: source.updated, default=None) if stream else None


def _conflict(stream: StreamState, position: Position, chunk: LogChunk) -> JobEvent | None:
    """Return an event, once a stream, where two producers write one stream of one rank by turns."""
    if chunk.producer in stream.writers[-1:] or not chunk.producer:
        return None
    if chunk.producer not in stream.writers:
        stream.writers = [*stream.writers, chunk.producer][-PRODUCERS:]
        return None
    if stream.conflict:
        return None
    stream.conflict = True
    return JobEvent(
        id=derived_id("id_conflict", chunk.job, position),
        job=chunk.job,
        attempt=chunk.attempt,
        kind=EventKind.ID_CONFLICT,
        time=chunk.time,
        scheduler=PRODUCER,
        detail=(
            f"expected one producer for {chunk.stream} of rank {chunk.rank}, got lines by turns from {' and '.join(stream.writers[-2:])}: "
            "are two jobs using one id? give each its own --job, or each process its own --rank"
        ),
    )
