"""All processors of a job, one after the other: the path of one record.

chunk → lines that are new, their classes, reports (`stream_reader.py`) → metrics and classified lines → the stages
event, finding, answer → the stages

The stages of each attempt get everything in their order (`stage.py`); what they return are the results.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from typing import TypeVar

import msgspec

from schedmate_records import (
    EventKind,
    Failure,
    GpuActivity,
    JobEvent,
    JobMetric,
    LogChunk,
    ModelAnswer,
    NodeFinding,
    Position,
    Record,
    identified,
)

from .attempts import AttemptMetrics, drop_displaced, may_follow, newest_attempt, superseded
from .formats.known import KnownFormats
from .incarnation import Belonging, IncarnationMetrics, belonging
from .job_of_ranks import rank_event
from .model_questions import SAMPLED_STREAMS, cited, format_question
from .stage import AnyStage, StageInput
from .stages import shipped_stages
from .state import AttemptState, Early, JobState, StreamState
from .stream_reader import StreamReader, attempt_passed_over, conflict, lines_passed_over
from .track.format_candidates import METHOD_MODEL
from .track.ranks import merge_ranks

T = TypeVar("T")


class JobProcessor:
    """The `KeyedProcessor` of jobs.

    Args:
        reader: Reads lines.
        stages: In the order in which they get a record; those that ship, with default settings, where not given.
        ask_models: Whether language models are asked about formats and verdicts, and lines and chunks are kept to ask about.
    """

    replayed = ("job-logs",)
    state_topic = "job-state"
    state = JobState
    parts = "streams"
    part = StreamState

    def __init__(
        self,
        reader: StreamReader | None = None,
        stages: Sequence[AnyStage] | None = None,
        *,
        ask_models: bool = False,
    ) -> None:
        self.reader = reader or StreamReader()
        self.stages = tuple(stages or shipped_stages())
        more = (topic for each in self.stages for topic in each.inputs)
        self.inputs = tuple(dict.fromkeys(["job-logs", "job-events", "pipe-events", *more]))
        self.ask_models = ask_models
        self.attempts = AttemptMetrics()
        self.incarnations = IncarnationMetrics()

    @property
    def formats(self) -> KnownFormats:
        """The known formats."""
        reader = self.reader.tracker.formats
        return reader.known if reader is not None else KnownFormats()

    def stage(self, kind: type[T]) -> T:
        """Return the stage of a kind."""
        return next(stage for stage in self.stages if isinstance(stage, kind))

    def metric_groups(self) -> list[object]:
        """Return the metrics of all that it is made of, a group for each part."""
        of_stages = dict.fromkeys(group for stage in self.stages for group in stage.metric_groups())
        return [self.attempts, self.incarnations, *self.reader.metric_groups(), *of_stages]

    def fresh(self, key: str) -> JobState:
        """Return the state of job `key` before its first record."""
        return JobState(job=key)

    def ended(self, state: JobState) -> bool:
        """Return whether the newest attempt has ended."""
        return state.newest is not None and state.newest.ended

    def is_confirmed(self, state: JobState) -> bool:
        """Return whether a scheduler reported the newest attempt, and no end of it."""
        return state.newest is not None and state.newest.reported and not state.newest.ended

    def is_claim(self, record: Record) -> bool:
        """Return whether a record is a chunk of lines, or an event of a pipe or another producer."""
        return isinstance(record, LogChunk) or (isinstance(record, JobEvent) and record.by_producer)

    def process(self, state: JobState, position: Position, record: Record) -> list[Record]:
        """Return the records that follow from `record` at `position`; `state` then includes it."""
        results = self._follow_incarnation(state, position, record)
        if results is None:
            self.incarnations.former.inc()
            return []
        results += [_stamped(each, state.incarnation) for each in self._process(state, position, record)]
        return [each for made in results if (each := cited(made, state))]

    def _follow_incarnation(self, state: JobState, position: Position, record: Record) -> list[Record] | None:
        """Note which job of the id `record` is about; None if it is about one that was replaced.

        Where it begins a new job, return what follows for the attempts of the one before.
        """
        found = belonging(state, record)
        if found is Belonging.FORMER:
            return None
        if not isinstance(record, LogChunk | JobEvent):
            return []
        results: list[Record] = []
        if found is Belonging.NAMES:
            state.incarnation = record.incarnation
        elif found is Belonging.NEXT:
            for number, attempt in state.attempts.items():
                results += self._supersede(record.job, number, attempt, record.time, position)
            results = [_stamped(each, state.incarnation) for each in results]
            state.replace_incarnation(record.incarnation)
            self.incarnations.replaced.inc()
        state.last_seen = max(state.last_seen, record.time)
        return results

    def _process(self, state: JobState, position: Position, record: Record) -> list[Record]:
        match record:
            case LogChunk():
                return self._chunk(state, position, record)
            case JobEvent():
                return self._event(state, position, record)
            case GpuActivity():
                held_by = state.attempts.get(record.attempt)
                return self._run(record, position, held_by) if held_by else []
            case NodeFinding():
                return self._about(state, Early(position, finding=record), record) if record.job else []
            case ModelAnswer():
                return self._about(state, Early(position, answer=record), record)
            case _:
                raise TypeError(f"expected a record of {' or '.join(self.inputs)}, got {type(record).__name__}")

    def replay(self, state: JobState, position: Position, record: Record) -> None:
        """Take a chunk into the stream that lacks it; all else in `state` includes it already."""
        if position.offset <= state.replaced_at.get(f"{position.topic}/{position.partition}", -1):
            return  # it was the last of a job whose id was used again since
        if belonging(state, record) is Belonging.FORMER:
            return
        if isinstance(record, LogChunk) and record.attempt >= min(state.attempts, default=0):
            stream = state.stream_of(record.attempt, record.rank, record.stream)
            if stream.offset < position.offset:
                self.reader.read(record, position, stream, copy(state.budget), keep_place=self.ask_models)

    def _chunk(self, state: JobState, position: Position, chunk: LogChunk) -> list[Record]:
        results = self._begin(state, chunk, position)
        attempt = state.attempts.get(chunk.attempt)
        if attempt is None and chunk.attempt > (newest := newest_attempt(state.attempts)):
            return self._pass_over(state, position, chunk, newest)
        stream = state.stream_of(chunk.attempt, chunk.rank, chunk.stream)
        results += conflict(stream, position, chunk)
        may_wait = attempt is not None and not attempt.ended
        name = state.stream_name(chunk.attempt, chunk.rank, chunk.stream)
        if self.ask_models and attempt is not None:
            _choose_for_samples(attempt, name, stream, chunk)
        read = self.reader.read(chunk, position, stream, state.budget, may_wait=may_wait, keep_place=self.ask_models)
        if attempt is None:
            return [*results, *read.metrics]
        if read.passed_over and not attempt.passed_over:
            attempt.passed_over = True
            results.append(lines_passed_over(position, chunk))
        # The reports of 256 streams are written at the end of a job. Those of further streams wait for the next chunk.
        if stream.waiting and len(attempt.waiting) < 256 and name not in attempt.waiting:
            attempt.waiting.append(name)
        metrics = read.metrics
        if not read.chunk.lines and attempt.ended:
            metrics = ()  # the end has written the reports that waited
        if read.chunk.lines:
            attempt.newest_stream = name
            source = stream.source_of(chunk.producer)
            if self.ask_models and (asked := format_question(state, source, self.formats, chunk, position)):
                results.append(asked)
        return [*results, *self._measured(metrics, position, attempt), *self._run(read.chunk, position, attempt)]

    def _pass_over(self, state: JobState, position: Position, chunk: LogChunk, newest: int) -> list[Record]:
        """Count the lines of an attempt whose number is too high; return, once a job, the event that states it."""
        self.attempts.lines.inc(len(chunk.lines))
        if state.attempt_refused:
            return []
        state.attempt_refused = True
        return [attempt_passed_over(position, chunk, newest)]

    def _event(self, state: JobState, position: Position, event: JobEvent) -> list[Record]:
        if event.kind is EventKind.DESCRIBED:
            return []  # the workload of a job is no event of its attempt
        if event.by_producer and state.scheduled:
            return self._by_producer(state, position, event)
        results: list[Record] = []
        if event.scheduler and not event.by_producer and not state.scheduled:
            state.scheduled = True
            results += self._reopen(state, event, position)
        results += self._begin(state, event, position)
        attempt = state.attempts.get(event.attempt)
        if attempt is None:
            self.attempts.events.inc()
            return results
        if event.kind in (EventKind.RANK_STARTED, EventKind.RANK_ENDED):
            return [*results, *rank_event(attempt, event)]
        if event.kind is EventKind.ENDED:
            streams = [stream for name in attempt.waiting if (stream := state.streams.get(name))]
            attempt.waiting = []
            for stream in streams:
                results += self._measured(self.reader.waiting(stream), position, attempt)
            attempt.ended = True
            results += self._questions_at_end(state, attempt, event, position)
        return [*results, *self._run(event, position, attempt)]

    def _questions_at_end(
        self, state: JobState, attempt: AttemptState, event: JobEvent, position: Position
    ) -> list[Record]:
        """Return the questions about the formats of an attempt's streams, once it has ended."""
        streams = [stream for name in attempt.sampled if (stream := state.streams.get(name))]
        asked = (
            format_question(state, each, self.formats, event, position)
            for stream in streams
            for each in stream.sources.values()
        )
        return [each for each in asked if each is not None]

    def _by_producer(self, state: JobState, position: Position, event: JobEvent) -> list[Record]:
        """Take what a producer reports of a job that a scheduler has reported: lost lines of a known attempt, and nothing else.

        The scheduler reports when and where attempts run. A pipe runs one command of the job, or somebody forged the event.
        """
        attempt = state.attempts.get(event.attempt)
        if attempt is None or event.kind is not EventKind.LINES_LOST:
            return []
        return self._run(msgspec.structs.replace(event, nodes=[]), position, attempt)

    def _reopen(self, state: JobState, event: JobEvent, position: Position) -> list[Record]:
        """Take back the ends that pipes alone reported: `event` is the first of a scheduler. Attempts before that of the event are over."""
        results: list[Record] = []
        for number, attempt in state.attempts.items():
            ends = event.kind is EventKind.ENDED and number == event.attempt
            if not attempt.ended or ends or number < event.attempt:
                continue
            attempt.ended = False
            for stage in self.stages:
                results += stage.on_reopened(event.job, number, event.time, position, attempt.state_of(stage))
        return results

    def _about(self, state: JobState, early: Early, record: NodeFinding | ModelAnswer) -> list[Record]:
        """Process a record about an attempt. It waits for the attempt's first record, and is ignored if the attempt ended long ago."""
        attempt = state.attempts.get(record.attempt)
        if attempt is not None:
            return self._run(record, early.position, attempt)
        if may_follow(state.attempts, record.attempt, reported=True):
            state.early = [*state.early, early][-32:]
        return []

    def _begin(self, state: JobState, record: LogChunk | JobEvent, position: Position) -> list[Record]:
        """Note a record of an attempt. Where the attempt is new, or newly reported, drop and end those that it displaces."""
        if not self._note(state, record):
            return []
        attempts = state.attempts
        drop_displaced(attempts, record.attempt)
        for name in [name for name in state.streams if int(name.split("/", 1)[0]) not in attempts]:
            del state.streams[name]
        results: list[Record] = []
        for former, began in superseded(attempts):
            results += self._supersede(record.job, former, attempts[former], began, position)
        early, state.early = state.early, []
        for each in early:
            if about := each.finding or each.answer:
                results += self._about(state, each, about)
        return results

    def _supersede(self, job: str, number: int, attempt: AttemptState, time: float, position: Position) -> list[Record]:
        """Return what follows for attempt `number` of `job` from the start of a newer one at `time`, in seconds since 1970."""
        return [
            made
            for stage in self.stages
            for made in stage.on_superseded(job, number, time, position, attempt.state_of(stage))
        ]

    def _note(self, state: JobState, record: LogChunk | JobEvent) -> bool:
        """Count a record of an attempt that is followed; return whether the attempt begins with it, or is reported for the first time."""
        number, attempts = record.attempt, state.attempts
        reported = isinstance(record, JobEvent) and not record.by_producer
        if not may_follow(attempts, number, reported=reported):
            return False
        begins = number not in attempts
        if begins:
            former = next(reversed(attempts.values()), None)
            attempts[number] = AttemptState(began=record.time)
            if former:
                for stage in self.stages:
                    stage.on_begun(attempts[number].state_of(stage), former.state_of(stage))
        attempt = attempts[number]
        attempt.records += 1
        newly_reported = reported and not attempt.reported
        if newly_reported:
            attempt.reported, attempt.began = True, record.time
        return begins or newly_reported

    def _measured(self, metrics: Iterable[JobMetric], position: Position, attempt: AttemptState) -> list[Record]:
        """Return the metrics, over all ranks where it is time to look at all, and what follows from them."""
        results: list[Record] = []
        for metric in metrics:
            if metric.method == METHOD_MODEL:
                results.append(metric)  # a slowdown leads to an action, and a model's reading to none
            else:
                whole = merge_ranks(metric, attempt.ranks)
                results += [whole, *self._run(whole, position, attempt)]
        return results

    def _run(self, record: StageInput, position: Position, attempt: AttemptState) -> list[Record]:
        """Return what the stages make of `record`: each takes what the stages before it made, then `record` itself."""
        made: list[Record] = []
        for stage in self.stages:
            own = attempt.state_of(stage)
            made = [out for earlier in made for out in (*stage.dispatch(earlier, position, own), earlier)]
            made += stage.dispatch(record, position, own)
        return made


def _stamped(record: Record, incarnation: str) -> Record:
    """Return `record` with the incarnation of the job that it is about."""
    if not incarnation or getattr(record, "incarnation", incarnation) == incarnation:
        return record
    stamped = msgspec.structs.replace(record, incarnation=incarnation)
    # The id of a verdict follows from what it states; all others follow from places in the input.
    return identified(stamped) if isinstance(stamped, Failure) else stamped


def _choose_for_samples(attempt: AttemptState, name: str, stream: StreamState, chunk: LogChunk) -> None:
    """Let a stream keep sample lines for a question about its format: those of rank 0, and a few others that repeat a line."""
    own = stream.source_of(chunk.producer).track.format
    if own.sampled or own.fingerprint or len(attempt.sampled) >= SAMPLED_STREAMS:
        return
    if chunk.rank == 0 or own.survey.repeats:
        own.sampled = True
        if name not in attempt.sampled:
            attempt.sampled = [*attempt.sampled, name]
