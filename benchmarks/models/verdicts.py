"""Why attempts failed: questions about logs whose truth is known, by how confident the rules are."""

import copy
import json
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus.failures.generate import LOGS, labels, load
from processors.diagnose import FailureHandler
from processors.diagnose.failure_question import TrackRecord
from processors.diagnose.failure_question.table import Band, band
from processors.diagnose.stage import Diagnosis
from processors.job import JobProcessor
from processors.model_questions import prepare
from processors.prompts import Prompt
from processors.settings import ProcessorSettings
from processors.state import JobState
from schedmate.assembly import job_processor
from schedmate.models.language_models import asked_at_once
from schedmate_records import (
    ErrorType,
    EventKind,
    Failure,
    JobEvent,
    LogChunk,
    ModelAnswer,
    ModelQuestion,
    Position,
    QuestionKind,
)
from streams.model_worker.language_model import LanguageModel
from streams.producers.stored import read_chunks

from .asking import Noted
from .judged import Tally, points

WHAT = {
    Band.LIKELY: "verdicts, rules likely right",
    Band.UNSURE: "verdicts, rules unsure",
    Band.NONE: "verdicts, rules without one",
}


@dataclass(frozen=True)
class Log:
    """A stored log and its label.

    Attributes:
        path: The log.
        label: What is true of it.
        end_known: Whether the exit code is known when it is read; False for a log alone.
    """

    path: Path
    label: dict[str, Any]
    end_known: bool = True


def own_logs() -> list[Log]:
    """Return the corpus of provoked failures."""
    return [Log(LOGS / family / label["file"], label) for family in load() for label in labels(family)]


def logs_of(folder: Path) -> list[Log]:
    """Return the logs of a folder whose `labels.jsonl` has the form of the corpus; without one, healthy logs. No exit code is known."""
    file = folder / "labels.jsonl"
    if not file.exists():
        healthy = {"error_type": ErrorType.NONE, "restartable": None}
        return [Log(path, healthy, end_known=False) for path in sorted(folder.glob("*.log"))]
    lines = file.read_text(encoding="utf-8").splitlines()
    return [Log(folder / label["file"], label, end_known=False) for label in map(json.loads, lines)]


def measure(
    logs: Sequence[Log], model: LanguageModel, most: int, concurrency: int, *, catalogue: bool = True
) -> Iterator[Tally]:
    """Yield one row for each band of the rules' confidence in which a question is asked.

    Args:
        logs: What the verdicts are about; a part of them is drawn where they are many.
        model: The model to ask.
        most: Maximum number of questions in each band.
        concurrency: Questions under way at a time.
        catalogue: Whether the signatures that ship are known; without them a verdict is what one on an unknown failure is.
    """
    processor = processor_of(catalogue=catalogue)
    rows = {each: Tally(WHAT[each] + ("" if catalogue else ", without the catalogue"), alone_right=0) for each in Band}
    readings: list[Reading] = []
    considered = 0
    for log in random.Random(0).sample(list(logs), len(logs)):
        if all(row.subjects >= most for row in rows.values()):
            break
        reading, considered = Reading(processor, log), considered + 1
        row = rows[band(reading.verdict)]
        if reading.question is not None and row.subjects < most:
            row.subjects += 1
            readings.append(reading)
    track_record = TrackRecord()
    with ThreadPoolExecutor(concurrency) as threads:
        noted = list(threads.map(lambda one: one.ask(model, track_record), readings))
    for reading, answers in zip(readings, noted, strict=True):
        _count(reading, answers, rows[band(reading.verdict)])
    for row in rows.values():
        row.considered = considered
        yield from [row] if row.subjects else []


class Reading:
    """A log as a worker reads it, up to the last verdict and the question about it."""

    def __init__(self, processor: JobProcessor, log: Log) -> None:
        self.log = log
        self._processor = processor
        self._state = JobState(job=log.path.name)
        self.verdict: Failure | None = None
        self.combined: Failure | None = None
        self.question: ModelQuestion | None = None
        self.answer: ModelAnswer | None = None
        self._chunks: dict[int, LogChunk] = {}
        time = 0.0
        for offset, chunk in enumerate(read_chunks(log.path)):
            self._chunks[offset] = chunk
            time = chunk.time
            self._take(processor.process(self._state, Position(log.path.name, 0, offset), chunk))
        known: dict[str, Any] = (
            {"exit_code": int(log.label["error_type"] != ErrorType.NONE), "scheduler": "x"} if log.end_known else {}
        )
        ended = JobEvent(id="end", job=log.path.name, kind=EventKind.ENDED, time=time, **known)
        self._take(processor.process(self._state, Position(log.path.name, 1, 0), ended))
        self.combined = self.verdict
        cited = set(self.question.offsets) if self.question else set[int]()
        self._chunks = {offset: chunk for offset, chunk in self._chunks.items() if offset in cited}

    def prompt(self) -> Prompt | None:
        """Return the prompt of the question; None where there is no question."""
        prepared = prepare(self.question, self._chunks) if self.question else None
        return prepared.prompt if prepared else None

    def ask(self, model: LanguageModel, track_record: TrackRecord) -> Noted:
        """Ask about the verdict and combine it with the answer. The next model starts from the rules' verdict again."""
        noted = Noted(model, QuestionKind.FAILURE)
        self.answer, self.combined = None, self.verdict
        found = asked_at_once(noted, track_record)(self.question, self._chunks) if self.question else None
        if isinstance(found, ModelAnswer):
            self.answer = found
            state = copy.deepcopy(self._state)
            for each in self._processor.process(state, Position("model-answers", 0, 1), found):
                if isinstance(each, Failure):
                    self.combined = None if each.error_type is ErrorType.NONE else each
        return noted

    def _take(self, made: Sequence[object]) -> None:
        for each in made:
            if isinstance(each, Failure):
                self.verdict = None if each.error_type is ErrorType.NONE else each
            elif isinstance(each, ModelQuestion) and each.kind is QuestionKind.FAILURE:
                self.question = each


def processor_of(*, catalogue: bool = True) -> JobProcessor:
    """Return what reads the logs and asks about failures; without the catalogue it knows no signature."""
    processor = job_processor(ProcessorSettings(ask_models=True))
    if not catalogue:
        handler = FailureHandler([])
        stages = [
            Diagnosis(handler, ask_models=True) if isinstance(each, Diagnosis) else each for each in processor.stages
        ]
        processor.stages = tuple(stages)
    return processor


def _count(reading: Reading, noted: Noted, row: Tally) -> None:
    row.effective += reading.combined != reading.verdict
    noted.count(row)
    given = reading.answer.failure if reading.answer else None
    if given is not None and row.alone_right is not None:
        row.alone_right += given.error_type in _types(reading.log.label)
    row.judge(verdict_points(reading.log.label, reading.verdict), verdict_points(reading.log.label, reading.combined))


def _types(label: dict[str, Any]) -> set[str]:
    return {label["error_type"], *(label.get("acceptable_error_types") or [])}


def verdict_points(label: dict[str, Any], verdict: Failure | None) -> dict[str, float]:
    """Return the points of a verdict: its type, component, restartable and root line, as far as the label states them."""
    if label["error_type"] == ErrorType.NONE:
        return {"type": -1.0 if verdict else 1.0}
    kind = None if verdict is None or verdict.error_type is ErrorType.UNKNOWN else verdict.error_type
    found = {"type": points(kind, kind in _types(label))}
    if label["error_type"] == ErrorType.INFRASTRUCTURE:
        components = {label["faulty_component"], *(label.get("acceptable_components") or [])}
        component = verdict.faulty_component if verdict and kind else None
        found["component"] = points(component, component in components)
    if label["restartable"] is not None:
        restartable = verdict.restartable if verdict else None
        found["restartable"] = points(restartable, restartable == label["restartable"])
    places = [label["acceptable_lines"], *(label.get("alt_ranges") or [])] if label.get("acceptable_lines") else []
    if places:
        root = verdict.root if verdict else None
        found["root"] = points(root, root is not None and any(low <= root.line <= high for low, high in places))
    return found
