"""All processors of a job, one after the other: the path of one chunk of lines.

chunk → new pieces → classes → reports → metric → slowdown, alarms
↘ candidates → failure
a model's answer → revision of a failure, or one more reading of reports
where the job is → stays on nodes; what a node said → revision of a failure
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from records import (
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
from .state import MAX_SOURCES, JobState, SourceState
from .track import learned
from .track.ranks import together
from .track.tracker import MetricTracker
from .view import PROGRESS, ChunkView


@dataclass
class Counters:
    """What the processors of this process have done."""

    lines: int = 0
    """Pieces of text processed: lines, and redraws of progress bars."""
    repeats: int = 0
    """Pieces left out because they were seen before."""


class JobProcessor:
    """The `KeyedProcessor` of jobs."""

    inputs = ("job-logs", "job-events", "pipe-events", "model-answers", "node-findings")
    state_topic = "job-state"
    state = JobState

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
        self.counters = Counters()

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

    def _chunk(self, state: JobState, position: Position, chunk: LogChunk) -> list[Record]:
        results: list[Record] = [*follow(chunk, state.stays)]
        _begin_attempt(state, chunk.attempt)
        conflict = _conflict(state, position, chunk)
        if conflict:
            results.append(conflict)
        source = _source(state, chunk)
        fresh = admit(chunk, source)
        self.counters.repeats += fresh.repeats
        if not fresh.lines:
            return [*results, *self._heard(chunk, chunk.time, position, state, alive=False)]
        self.counters.lines += len(fresh.lines)
        lines, times = unwrapped(fresh.lines, fresh.times)
        masked = templates(lines)
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
        metric = self.tracker.observe(view, source.track, state.templates)
        if metric:
            results += self._measured(metric, position, state)
        if self.inquirer is not None and look and learned.left_open(source.track):
            self.inquirer.left_open(view)
        results += self._said(self.handler.observe(view, state.diagnose), state, position)
        results += self._heard(chunk, view.times[-1], position, state, alive=PROGRESS in view.classes)
        return results

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
            over = self.alarms.ended(event.job, event.attempt, event.time, position, state.alarms)
            stays += end(event.job, event.attempt, event.time, state.stays)
            return [*stays, *self._said(self.handler.conclude(ending, state.diagnose), state, position), *over]
        return [*stays]


def _begin_attempt(state: JobState, attempt: int) -> None:
    """Forget what belongs to attempts before the last one."""
    if attempt > state.attempt:
        state.attempt = attempt
        state.sources = {
            key: source for key, source in state.sources.items() if int(key.split("/", 1)[0]) >= attempt - 1
        }
        state.writers, state.conflicts = {}, []


def _next(revision: Failure | None, state: JobState) -> list[Failure]:
    """Return the verdict that nodes changed, if any, as the next revision."""
    if revision is None:
        return []
    state.diagnose.revision += 1
    return [msgspec.structs.replace(revision, revision=state.diagnose.revision)]


def _source(state: JobState, chunk: LogChunk) -> SourceState:
    key = f"{chunk.attempt}/{chunk.rank}/{chunk.stream}/{chunk.producer}"
    source = state.sources.get(key)
    if source is None:
        if len(state.sources) >= MAX_SOURCES:
            del state.sources[min(state.sources, key=lambda name: state.sources[name].updated)]
        source = state.sources[key] = SourceState()
    return source


def _printed(state: JobState, answer: ModelAnswer) -> SourceState | None:
    """Return the newest of the sources that printed the lines which `answer` explains."""
    stream = f"{answer.attempt}/{answer.rank}/{answer.stream}/"
    found = [source for name, source in state.sources.items() if name.startswith(stream)]
    return max(found, key=lambda source: source.updated, default=None)


def _conflict(state: JobState, position: Position, chunk: LogChunk) -> JobEvent | None:
    """Return an event, once a stream, where two producers write one stream of one rank by turns."""
    stream = f"{chunk.attempt}/{chunk.rank}/{chunk.stream}"
    writers = state.writers.setdefault(stream, [])
    if chunk.producer in writers[-1:] or not chunk.producer:
        return None
    if chunk.producer not in writers:
        state.writers[stream] = [*writers, chunk.producer][-8:]
        return None
    if stream in state.conflicts:
        return None
    state.conflicts.append(stream)
    return JobEvent(
        id=derived_id("id_conflict", chunk.job, position),
        job=chunk.job,
        attempt=chunk.attempt,
        kind=EventKind.ID_CONFLICT,
        time=chunk.time,
        scheduler="producer",
        detail=(
            f"expected one producer for {chunk.stream} of rank {chunk.rank}, got lines by turns from {' and '.join(writers[-2:])}: "
            "are two jobs using one id? give each its own --job, or each process its own --rank"
        ),
    )
