"""Analysis of a stored log: the processors run over one file, without a server."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from processors.classified_chunk import CHUNK_LINES
from processors.diagnose.stage import Diagnosis
from processors.formats.reading import FormatReading, read_format
from processors.job import JobProcessor
from processors.read.column_search import WeighedColumn
from processors.read.solver import Solution, solve
from processors.recent_chunks import CHUNKS
from processors.state import JobState
from processors.track.series import Point, points, template_of
from processors.track.step_time_candidates import THRESHOLD, StepTimeCandidate
from processors.track.summary import summarise
from schedmate_records import (
    Alarm,
    Checkpoint,
    CheckpointState,
    ErrorType,
    EventKind,
    Failure,
    JobEvent,
    JobMetric,
    KnownFormat,
    LogChunk,
    ModelAnswer,
    ModelQuestion,
    Opinion,
    OverRanks,
    Position,
    QuestionKind,
    Record,
    TemplateFormat,
)

from ..models.language_models import Ask
from .legibility import Legibility
from .node_log import NodeLog, Sign, is_node_log
from .tail import LogTail

MOST_POINTS, MOST_TEMPLATES = 512, 64
"""Points of a curve, many more than a terminal shows, and templates of reports, of which a log has a handful: a bound on memory."""


@dataclass
class Analysis:
    """The result for one log.

    Attributes:
        file: Its path, as given.
        lines: Lines in it, counted at newlines.
        metric: The newest progress; null where the log reports none.
        over_ranks: Step times over the ranks that print into the log, at the newest look.
        checkpoint: The newest durable checkpoint in the part of the log that was read; null for none.
        alarms: What went wrong on the way: a loss that was no number, a loss spike, a rank behind the others.
        failure: The verdict; null for a run that did not fail.
        illegible: Why nothing is known of a log that is empty or no text; empty otherwise.
        action: What an operator should do about it, as its signature states.
        located_by: `end` where the end of the log decided; `whole` where it was read from its start.
        chunks_read: Chunks of 20 lines that were read.
        points: Step time and loss by step, thinned: at most a few hundred.
        templates: Templates of the reports that were read, and how many of each.
        readings: What the printed times may mean, the one that was given first.
        columns: Numbers of the lines that were weighed for step and loss, the likeliest first; none if names alone determined both.
        solutions: What the events of a structured log count.
        answers: What a language model answered about its failure, where one is asked.
        format: The known format that was applied to it, from a model or a person; null for none.
        format_reading: What that format reads, and what of it the lines contradict; null for none.
        signs: Of a node's kernel or system log: findings on the node; null for a job's log.
    """

    file: str
    lines: int = 0
    metric: JobMetric | None = None
    over_ranks: OverRanks | None = None
    checkpoint: Checkpoint | None = None
    alarms: list[Alarm] = field(default_factory=list)
    failure: Failure | None = None
    illegible: str = ""
    action: str = ""
    located_by: str = "whole"
    chunks_read: int = 0
    points: list[Point] = field(default_factory=list)
    templates: Counter[str] = field(default_factory=Counter)
    readings: tuple[StepTimeCandidate, ...] = ()
    columns: Sequence[WeighedColumn] = ()
    solutions: Sequence[Solution] = ()
    answers: list[ModelAnswer] = field(default_factory=list)
    format: KnownFormat | None = None
    format_reading: FormatReading | None = None
    signs: list[Sign] | None = None

    def contract(self) -> dict[str, Any]:
        """Return the JSON object that `analyze --format json` prints."""
        metric, failure, saved = self.metric, self.failure, self.checkpoint
        return {
            "file": self.file,
            "lines": self.lines,
            "located_by": self.located_by,
            "chunks_read": self.chunks_read,
            "linear": self.located_by == "whole",
            "progress": {
                "step_time_s": metric and metric.step_time_s,
                "throughput": metric and metric.throughput,
                "throughput_unit": metric and metric.throughput_unit,
                "last_step": metric and metric.step,
                "last_loss": metric and metric.loss,
                "epoch": metric and metric.epoch,
                "method": metric.method if metric else "unknown",
                "confidence": metric.confidence if metric else 0.0,
                "reports": metric.reports if metric else 0,
            },
            "format": self.format
            and {
                "fingerprint": self.format.fingerprint,
                "author": self.format.author,
                "training": self.format.training,
                "templates": [_template(each) for each in self.format.templates],
                "contradicted": self.format_reading.contradictions if self.format_reading else [],
            },
            "ranks": self.over_ranks and msgspec.structs.asdict(self.over_ranks),
            "checkpoint": saved
            and {
                "step": saved.step,
                "path": saved.path,
                "durable_by": saved.durable_by,
                "lines": [each.line for each in saved.evidence],
            },
            "alarms": [
                {"kind": alarm.kind, "detail": alarm.detail, "lines": [each.line for each in alarm.evidence]}
                for alarm in self.alarms
            ],
            "failure": failure
            and {
                "root_line": failure.root and failure.root.line,
                "message": failure.message,
                "error_type": failure.error_type,
                "faulty_component": failure.faulty_component,
                "restartable": failure.restartable,
                "confidence": failure.confidence,
                "signature": failure.signature,
                "source": failure.source,
                "summary": failure.summary,
                "opinions": [_opinion(each) for each in failure.opinions],
                "confirmed_by": failure.confirmed_by,
                "contradicted_by": failure.contradicted_by,
                "evidence": [{"line": each.line, "text": each.text} for each in failure.evidence],
            },
            "node": None if self.signs is None else [each.contract() for each in self.signs],
        }


def _template(template: TemplateFormat) -> dict[str, Any]:
    """Return what a format states about a template, with its numbers counted from 1."""
    columns = [
        {"number": each.column + 1, "role": each.role, "unit": each.unit, "steps": each.steps}
        for each in template.columns
    ]
    return {"reports": template.reports, "sample": template.sample, "columns": columns}


def _opinion(opinion: Opinion) -> dict[str, Any]:
    """Return an opinion as the JSON object of a verdict holds it."""
    return {
        "by": opinion.by,
        "error_type": opinion.error_type,
        "faulty_component": opinion.faulty_component,
        "restartable": opinion.restartable,
        "confidence": opinion.confidence,
        "root_line": opinion.root and opinion.root.line,
    }


def analyze(
    file: Path,
    chunks: Iterable[LogChunk],
    processor: JobProcessor,
    tail: LogTail | None = None,
    ask: Ask | None = None,
) -> Analysis:
    """Run `processor` over the `chunks` of one log, or over its `tail` alone, and conclude; how the job ended is not known.

    `ask` puts a question to a language model and waits for the answer: about a format that is not known, and about a failure. Once a format
    is answered the log is read again with it, so `chunks` must be iterable twice.
    """
    answered = len(processor.formats.records())
    result = _analyze(file, chunks, processor, tail, ask)
    if ask is not None and len(processor.formats.records()) > answered:
        result = _analyze(file, chunks, processor, tail, ask)
    return result


def _analyze(
    file: Path, chunks: Iterable[LogChunk], processor: JobProcessor, tail: LogTail | None, ask: Ask | None
) -> Analysis:
    result = Analysis(str(file))
    state = JobState(job=file.name)
    consultation = _Consultation(result, processor, state, ask)
    end, node, legibility = 0.0, None, Legibility()
    for offset, chunk in enumerate(tail.chunks if tail else chunks):
        position = Position(file.name, 0, offset)
        if not offset and is_node_log(chunk.lines):
            node = NodeLog(processor.stage(Diagnosis).handler.signatures)
        if node is not None:
            node.read(chunk, position)
        if not offset and tail is None:
            _follow_head(result, processor, chunk)
        legibility.read(chunk.lines)
        consultation.read(position, chunk)
        consultation.add_records(processor.process(state, position, chunk))
        _follow(result, state)
        result.lines = last_line(chunk)
        end = chunk.time
    result.located_by = "end" if tail else "whole"
    result.chunks_read = tail.chunks_read if tail else -(-result.lines // CHUNK_LINES)
    ended = JobEvent(id="end", job=file.name, kind=EventKind.ENDED, time=end)
    consultation.add_records(processor.process(state, Position(file.name, 1, 0), ended))
    consultation.conclude()
    if node is not None and (
        result.metric is None or result.metric.step is None
    ):  # only numbers with a step are progress
        result.signs, result.metric = node.signs, None
    if result.failure is None and result.metric is None:  # what was understood is text
        result.illegible = legibility.problem
    if result.failure is not None:
        known = {each.name: each.action for each in processor.stage(Diagnosis).handler.signatures}
        result.action = known.get(result.failure.signature, "")
    tracks = [source.track for source in state.sources()]
    result.columns = [each for track in tracks for each in processor.reader.tracker.weighed(track)]
    result.solutions = [found for track in tracks if track.events.events and (found := solve(track.events))]
    _take_format(result, processor, state)
    return result


def _take_format(result: Analysis, processor: JobProcessor, state: JobState) -> None:
    """Keep the known format of the stream that has most of its lines, and what it reads."""
    matched = [
        (known, source.track.format)
        for source in state.sources()
        if (known := processor.formats.get(source.track.format.fingerprint))
    ]
    if matched:
        known, own = max(matched, key=lambda each: each[1].survey.lines)
        result.format, result.format_reading = known.record, read_format(known, own)


@dataclass
class _Consultation:
    """Asks a language model what the processors ask, once the log is read: about its format, and about its failure."""

    result: Analysis
    processor: JobProcessor
    state: JobState
    ask: Ask | None
    chunks: dict[int, LogChunk] = field(default_factory=dict)
    last: tuple[ModelQuestion, Mapping[int, LogChunk]] | None = None
    formats: dict[str, ModelQuestion] = field(default_factory=dict)

    def read(self, position: Position, chunk: LogChunk) -> None:
        """Keep a chunk while a question may cite it."""
        if self.ask is None:
            return
        self.chunks[position.offset] = chunk
        if len(self.chunks) > CHUNKS:
            diagnosis = self.processor.stage(Diagnosis)
            candidates = [
                each for one in self.state.attempts.values() for each in one.state_of(diagnosis).handler.candidates
            ]
            held = {each.root.offset for each in candidates if each.root}
            oldest = next((offset for offset in self.chunks if offset not in held), None)
            del self.chunks[next(iter(self.chunks)) if oldest is None else oldest]

    def add_records(self, records: Iterable[Record]) -> None:
        """Add the results of the processors."""
        made = list(records)
        _add_records(self.result, made)
        for each in made:
            if not isinstance(each, ModelQuestion):
                continue
            if each.kind is QuestionKind.FORMAT:
                self.formats[each.about] = each
            else:
                cited = {offset: self.chunks[offset] for offset in each.offsets if offset in self.chunks}
                self.last = each, cited

    def conclude(self) -> None:
        """Ask about the newest format question, which shows most of the log, and about the failure."""
        if self.ask is not None and self.formats:
            newest = list(self.formats.values())[-1]
            answer = self.ask(newest, {})
            if isinstance(answer, KnownFormat):
                self.processor.formats.add(answer)
                return  # the log is read again with it
        if self.last is not None:
            self._consult(*self.last)

    def _consult(self, question: ModelQuestion, chunks: Mapping[int, LogChunk]) -> None:
        answer = self.ask(question, chunks) if self.ask else None
        if isinstance(answer, ModelAnswer):
            self.result.answers.append(answer)
            position = Position("model-answers", 0, len(self.result.answers))
            _add_records(self.result, self.processor.process(self.state, position, answer))


def _follow_head(result: Analysis, processor: JobProcessor, chunk: LogChunk) -> None:
    """Keep what a person sees of the first reports: of a whole chunk the newest alone are read. Nothing else rests on it."""
    cut = [each for each in chunk.cut if each < CHUNK_LINES]
    head = msgspec.structs.replace(
        chunk, lines=chunk.lines[:CHUNK_LINES], after_ms=chunk.after_ms[:CHUNK_LINES], cut=cut
    )
    state = JobState(job=chunk.job)
    processor.process(state, Position(chunk.job, 0, 0), head)
    _follow(result, state)


def _follow(result: Analysis, state: JobState) -> None:
    """Keep what a person sees of the newest reports."""
    windows = [source.track.window for source in state.sources() if source.track.window]
    if not windows:
        return
    window = max(windows, key=lambda reports: reports[-1].line)
    seen = result.points[-1].line if result.points else 0
    if window[-1].line <= seen:
        return
    result.readings = summarise(window).readings
    best = result.readings[0] if result.readings and result.readings[0].score >= THRESHOLD else None
    fresh = [point for point in points(window, best) if point.line > seen]
    result.points += fresh
    for report in window[-len(fresh) :]:
        result.templates[template_of(report)] += 1
    if len(result.points) > MOST_POINTS:
        result.points = result.points[::2]
    if len(result.templates) > MOST_TEMPLATES:
        result.templates = Counter(dict(result.templates.most_common(MOST_TEMPLATES // 2)))


def last_line(chunk: LogChunk) -> int:
    """Return the number of the last line of a numbered chunk."""
    inner = sum(not line.endswith("\r") for line in chunk.lines[:-1]) - sum(
        index < len(chunk.lines) - 1 for index in chunk.cut
    )
    return chunk.first_line + inner


def _add_records(result: Analysis, records: Iterable[object]) -> None:
    for record in records:
        if isinstance(record, JobMetric):
            result.metric = record
            result.over_ranks = record.over_ranks or result.over_ranks
        elif isinstance(record, Checkpoint) and record.state is CheckpointState.DURABLE:
            result.checkpoint = record
        elif isinstance(record, Alarm) and record.raised:
            result.alarms.append(record)
        elif isinstance(record, Failure):
            result.failure = None if record.error_type is ErrorType.NONE else record
