"""A second look at verdicts on logs whose truth is known, by how sure each is without a model."""

import json
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus.failures.generate import LOGS, labels, load
from processors.diagnose import FailureHandler
from processors.diagnose.review.revision import CERTAIN
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
from .judged import Tally, compared, points

SURENESS = ("certain", "uncertain", "unknown")


@dataclass(frozen=True)
class Log:
    """A stored log, and what is true of it."""

    path: Path
    label: dict[str, Any]


def own_logs() -> list[Log]:
    """Return the corpus of provoked failures."""
    return [Log(LOGS / family / label["file"], label) for family in load() for label in labels(family)]


def logs_of(folder: Path) -> list[Log]:
    """Return the logs of a folder whose `labels.jsonl` tells the truth in the corpus's terms."""
    lines = (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    return [Log(folder / label["file"], label) for label in map(json.loads, lines)]


def measure(
    logs: Sequence[Log], model: LanguageModel, most: int, concurrency: int, *, catalogue: bool = True
) -> Iterator[Tally]:
    """Yield two rows for each sureness of the verdict without a model: what it says, and how sure it is of that.

    Args:
        logs: What the verdicts are about; a part of them is drawn where they are many.
        model: Whom to ask.
        most: Verdicts of each sureness; a quarter of it of certain ones, of which nothing can follow.
        concurrency: Questions under way at a time.
        catalogue: Whether the signatures that ship are known; without them a verdict is what one on an unheard-of failure is.
    """
    processor = processor_of(catalogue=catalogue)
    room = dict.fromkeys(SURENESS, most) | {"certain": -(-most // 4)}
    by_sureness: dict[str, list[tuple[Log, Reading]]] = {each: [] for each in SURENESS}
    for log in random.Random(0).sample(list(logs), len(logs)):
        run = Reading(processor, log)
        if run.verdict is None or run.prompt() is None:
            continue
        sureness = _sureness(run.verdict)
        if len(by_sureness[sureness]) < room[sureness]:
            by_sureness[sureness].append((log, run))
    which = "" if catalogue else ", without the catalogue"
    for sureness, runs in by_sureness.items():
        said = Tally(f"{sureness} verdict{which}: what it says", alone_right=0)
        sure = Tally(f"{sureness} verdict{which}: its confidence")
        with ThreadPoolExecutor(concurrency) as pool:
            noted = list(pool.map(lambda one: one[1].review(model), runs))
        for (log, run), asked in zip(runs, noted, strict=True):
            _count(log, run, asked, said, sure)
        yield from (said, sure) if runs else ()


class Reading:
    """A log as a worker reads it, up to the last verdict and the question about it."""

    def __init__(self, processor: JobProcessor, log: Log) -> None:
        self._processor = processor
        self._state = JobState(job=log.path.name)
        self.verdict: Failure | None = None
        self.revised: Failure | None = None
        self.question: ModelQuestion | None = None
        self.answer: ModelAnswer | None = None
        self._chunks: dict[int, LogChunk] = {}
        time = 0.0
        for offset, chunk in enumerate(read_chunks(log.path)):
            self._chunks[offset] = chunk
            time = chunk.time
            self._take(processor.process(self._state, Position(log.path.name, 0, offset), chunk))
        code = 0 if log.label["error_type"] == ErrorType.NONE else 1
        ended = JobEvent(id="end", job=log.path.name, kind=EventKind.ENDED, time=time, exit_code=code, scheduler="x")
        self._take(processor.process(self._state, Position(log.path.name, 1, 0), ended))
        self.revised = self.verdict
        cited = {each.offset for each in self.question.chunks} if self.question else set[int]()
        self._chunks = {offset: chunk for offset, chunk in self._chunks.items() if offset in cited}

    def prompt(self) -> Prompt | None:
        """Return what a model is asked about the verdict; None where there is nothing to ask."""
        prepared = prepare(self.question, self._chunks) if self.question else None
        return prepared.prompt if prepared else None

    def review(self, model: LanguageModel) -> Noted:
        """Ask about the verdict, and take the answer."""
        noted = Noted(model, QuestionKind.REVIEW)
        if self.question is not None:
            self.answer = asked_at_once(noted)(self.question, self._chunks)
        if self.answer is not None:
            for each in self._processor.process(self._state, Position("model-answers", 0, 1), self.answer):
                if isinstance(each, Failure):
                    self.revised = each
        return noted

    def _take(self, made: Sequence[object]) -> None:
        for each in made:
            if isinstance(each, Failure):
                self.verdict = None if each.error_type is ErrorType.NONE else each
            elif isinstance(each, ModelQuestion) and each.kind is QuestionKind.REVIEW:
                self.question = each


def processor_of(*, catalogue: bool = True) -> JobProcessor:
    """Return what reads the logs and asks about verdicts; without the catalogue it knows no signature."""
    processor = job_processor(ProcessorSettings(ask_models=True))
    if not catalogue:
        processor.stage(Diagnosis).handler = FailureHandler([])
    return processor


def _sureness(verdict: Failure) -> str:
    if verdict.error_type is ErrorType.UNKNOWN:
        return "unknown"
    return "certain" if verdict.confidence >= CERTAIN else "uncertain"


def _count(log: Log, run: Reading, noted: Noted, said: Tally, sure: Tally) -> None:
    assert run.verdict is not None
    assert run.revised is not None
    for row in (said, sure):
        row.subjects += 1
        row.effective += run.revised != run.verdict
        noted.count(row)
    review = run.answer.review if run.answer else None
    if review is not None and said.alone_right is not None:
        said.alone_right += review.error_type in _types(log.label)
    said.changes[compared(_verdict_points(log.label, run.verdict), _verdict_points(log.label, run.revised))] += 1
    sure.changes[compared(_trust(log.label, run.verdict), _trust(log.label, run.revised))] += 1


def _types(label: dict[str, Any]) -> set[str]:
    return {label["error_type"], *label.get("acceptable_error_types", [])}


def _verdict_points(label: dict[str, Any], verdict: Failure) -> dict[str, float]:
    """Return the points of what a verdict says: its type, component, whether starting again helps, and its root line."""
    failed = label["error_type"] != ErrorType.NONE
    kind = None if verdict.error_type is ErrorType.UNKNOWN else verdict.error_type
    places = [label["acceptable_lines"], *label.get("alt_ranges", [])] if failed and label["acceptable_lines"] else []
    root, restartable = verdict.root, verdict.restartable
    components = {label["faulty_component"], *label.get("acceptable_components", [])}
    return {
        "type": points(kind, kind in _types(label)),
        "component": points(
            kind and verdict.faulty_component, kind is not None and verdict.faulty_component in components
        ),
        "restartable": 0.0
        if label["restartable"] is None
        else points(restartable, restartable == label["restartable"]),
        "root": points(root, root is not None and any(low <= root.line <= high for low, high in places)),
    }


def _trust(label: dict[str, Any], verdict: Failure) -> dict[str, float]:
    """Return its confidence where its type is right, less that where it is wrong."""
    if verdict.error_type is ErrorType.UNKNOWN:
        return {"trust": 0.0}
    return {"trust": verdict.confidence if verdict.error_type in _types(label) else -verdict.confidence}
