"""From a question to its answer: fetch the lines that it cites, ask a model, make the record.

Nothing depends on an answer: a question that is too old, whose lines are gone or that cannot be answered is dropped and counted.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import structlog
from prometheus_client import Counter

from processors.diagnose.failure_question import TrackRecord
from processors.formats import KnownFormats
from processors.model_questions import prepare
from processors.prompts import Prompt
from schedmate_records import (
    BY_RECORD,
    InvalidRecord,
    KnownFormat,
    LogChunk,
    ModelAnswer,
    ModelQuestion,
    QuestionKind,
    encode,
)

from ..accept import accept, refuse
from ..runtimes.failing import FailingWatch
from ..transport import Message, Outgoing, TransportError, outgoing
from .language_model import LanguageModel, ModelUnavailable

log = structlog.get_logger(__name__)


class AnsweringMetrics:
    """Metrics of questions."""

    def __init__(self) -> None:
        self.questions = Counter("schedmate_model_worker_questions", "Questions read.", registry=None)
        self.answered = Counter("schedmate_model_worker_answered", "Answers written.", registry=None)
        self.expired = Counter(
            "schedmate_model_worker_expired",
            "Questions dropped because they could not be answered in time.",
            registry=None,
        )
        self.lines_gone = Counter(
            "schedmate_model_worker_lines_gone",
            "Questions dropped because the lines that they cite are no longer kept.",
            registry=None,
        )
        self.nothing_to_ask = Counter(
            "schedmate_model_worker_nothing_to_ask",
            "Questions about formats that are known meanwhile, or without a template.",
            registry=None,
        )
        self.unanswered = Counter(
            "schedmate_model_worker_unanswered",
            "Questions without a usable answer, or over budget.",
            registry=None,
        )
        self.dead_letters = Counter(
            "schedmate_model_worker_dead_letters",
            "Messages without a valid question.",
            registry=None,
        )


@dataclass
class QuestionAnswerer:
    """Answers questions, one at a time in each thread.

    Attributes:
        model: The model to ask.
        chunks_of: Returns the chunks that a question cites and that are still there, by offset.
        partitions: Partitions of the jobs' topics.
        within_s: Seconds within which a question is answered.
        clock: Seconds since 1970.
        formats: The known formats. A question about one of them is not asked again, nor one that found no answer within `within_s`.
        track_record: How often the model agrees with confident rules.
    """

    model: LanguageModel
    chunks_of: Callable[[ModelQuestion], Mapping[int, LogChunk]]
    partitions: int = 1
    # A question is answered within 900 s, or dropped: a later hint has no use.
    within_s: float = 900.0
    clock: Callable[[], float] = time.time
    formats: KnownFormats = field(default_factory=KnownFormats)
    track_record: TrackRecord = field(default_factory=TrackRecord)
    metrics: AnsweringMetrics = field(default_factory=AnsweringMetrics)
    failing: FailingWatch = field(default_factory=FailingWatch)
    _one_format: threading.Lock = field(default_factory=threading.Lock)
    _without_answer: dict[str, float] = field(default_factory=dict)

    def answer(self, question: ModelQuestion) -> ModelAnswer | KnownFormat | None:
        """Return the answer to `question`; None where there is none to be had. A format that it states is known from then on.

        Raises:
            ModelUnavailable: No model can be asked now.
            TransportError: The chunks cannot be read now.
        """
        if question.kind is QuestionKind.FORMAT:
            with self._one_format:  # jobs of one format ask at one time: the first answer is for all of them
                return self._ask_about_format(question)
        chunks = self.chunks_of(question)
        if not chunks:
            self.metrics.lines_gone.inc()
            return None
        return self._ask(question, chunks)

    def _ask_about_format(self, question: ModelQuestion) -> ModelAnswer | KnownFormat | None:
        if self._is_known(question):
            self.metrics.nothing_to_ask.inc()
            return None
        now, key = self.clock(), question.about
        self._without_answer = {each: at for each, at in self._without_answer.items() if at + self.within_s > now}
        if key in self._without_answer:
            self.metrics.unanswered.inc()
            return None
        answer = self._ask(question, {})
        if answer is None:
            self._without_answer[key] = now
        return answer

    def _ask(self, question: ModelQuestion, chunks: Mapping[int, LogChunk]) -> ModelAnswer | KnownFormat | None:
        prepared = prepare(question, chunks)
        if prepared is None:
            self.metrics.nothing_to_ask.inc()
            return None
        answer = self.model.ask(prepared.prompt)
        if answer is None:
            self.metrics.unanswered.inc()
            return None
        self.metrics.answered.inc()
        record = prepared.answer(answer.content, answer.model, self.clock())
        if isinstance(record, KnownFormat):
            self.formats.add(record)
            return record
        return msgspec.structs.replace(record, trusted=self.track_record.judge(question.failure, record, self._content))

    def _content(self, prompt: Prompt) -> Mapping[str, Any] | None:
        answer = self.model.ask(prompt)
        return answer.content if answer else None

    def _is_known(self, question: ModelQuestion) -> bool:
        """Return whether the format of a stream became known after the stream was asked about."""
        shown = question.format
        if shown is None:
            return False
        counts = {each.text: each.count for each in shown.templates}
        return self.formats.get(shown.fingerprint) is not None or self.formats.covers(counts)

    def handle(self, message: Message) -> list[Outgoing]:
        """Return what is to be written before `message`, which holds a question, is committed: the answer, a dead letter, or nothing.

        Raises:
            ModelUnavailable: No model can be asked now: handle the message again later.
            TransportError: The chunks cannot be read now: handle the message again later.
        """
        if self.clock() > message.time + self.within_s:
            self.metrics.expired.inc()
            return []
        try:
            question = accept(message)
            assert isinstance(question, ModelQuestion)
            if question.partition not in range(self.partitions):
                raise InvalidRecord(f"expected a partition from 0 to {self.partitions - 1}, got {question.partition}")
            answer = self.answer(question)
        except (ModelUnavailable, TransportError):
            raise
        except InvalidRecord as error:
            return self._refuse(message, str(error), "decode")
        except Exception as error:
            log.exception("question_failed", position=message.position)
            self.failing.failed(str(message.key))
            reason = f"answering it failed with {str(error)[:300]!r}; please report this"
            return self._refuse(message, reason, "process")
        if answer is None:
            return []
        topic = BY_RECORD[type(answer)]
        partition = question.partition if isinstance(answer, ModelAnswer) else None
        return [Outgoing(topic.name, topic.key_of(answer), encode(answer), partition)]

    def _refuse(self, message: Message, reason: str, stage: str) -> list[Outgoing]:
        self.metrics.dead_letters.inc()
        return [outgoing(refuse(message, reason, stage))]
