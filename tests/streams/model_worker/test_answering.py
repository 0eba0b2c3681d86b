"""What a model worker does with each question: answered, dropped and counted, or set aside."""

from collections.abc import Mapping
from typing import Any

import pytest

from processors.prompts import Prompt
from schedmate_records import (
    ChunkReference,
    DeadLetter,
    LogChunk,
    ModelAnswer,
    ModelQuestion,
    Position,
    QuestionKind,
    decode,
    encode,
)
from streams.memory import MemoryBroker
from streams.model_worker.answering import QuestionAnswerer
from streams.model_worker.chunks import MOST, chunks_by_offset
from streams.model_worker.language_model import Answer, ModelUnavailable
from streams.transport import Message, outgoing
from tests.metric_values import value

from .local_worker import LocalModelWorker
from .sensible import sensible

NOW = 2_000_000_000.0


class Sensible:
    """A model that answers well, or is away."""

    away = False

    def ask(self, prompt: Prompt) -> Answer | None:
        if self.away:
            raise ModelUnavailable("away")
        return Answer("m", prompt.version, sensible(prompt))


def question(**changes: Any) -> ModelQuestion:
    fields: dict[str, Any] = {
        "id": "q", "job": "j", "kind": QuestionKind.FAILURE, "about": "v", "revision": 1, "time": 1.0, "topic": "job-logs",
        "partition": 1, "chunks": [ChunkReference(0)], "stream": "stdout",
    }  # fmt: skip
    return ModelQuestion(**fields | changes)


def message(value: bytes, age_s: float = 0.0) -> Message:
    return Message(Position("model-questions", 1, 0), b"j", value, NOW - age_s)


def answerer(
    chunks: Mapping[int, LogChunk] | Exception, model: Sensible | None = None, partitions: int = 2
) -> QuestionAnswerer:
    def chunks_of(_: ModelQuestion) -> Mapping[int, LogChunk]:
        if isinstance(chunks, Exception):
            raise chunks
        return chunks

    return QuestionAnswerer(model or Sensible(), chunks_of, partitions, 900.0, lambda: NOW)


CHUNKS = {0: LogChunk(job="j", producer="p", lines=["all is well", "error: it broke"], time=1.0, first_line=1)}


def test_an_answer_goes_to_the_partition_of_the_jobs_state() -> None:
    (written,) = answerer(CHUNKS).handle(message(encode(question())))
    assert (written.topic, written.partition, written.key) == ("model-answers", 1, b"j")
    answer = decode(ModelAnswer, written.value or b"")
    assert (answer.about, answer.revision, answer.lines[0].text) == ("v", 1, "error: it broke")


def test_one_that_is_too_old_is_dropped() -> None:
    one = answerer(CHUNKS)
    assert one.handle(message(encode(question()), age_s=901)) == []
    assert value(one.metrics.expired) == 1


def test_one_whose_lines_are_gone_is_dropped() -> None:
    one = answerer({})
    assert one.handle(message(encode(question()))) == []
    assert value(one.metrics.lines_gone) == 1


def test_one_that_nobody_can_answer_now_is_tried_again() -> None:
    model = Sensible()
    one = answerer(CHUNKS, model)
    model.away = True
    with pytest.raises(ModelUnavailable):
        one.handle(message(encode(question())))
    model.away = False
    assert one.handle(message(encode(question())))


@pytest.mark.parametrize(
    ("sent", "chunks", "partitions", "stage"),
    [
        (b"nonsense", CHUNKS, 2, "decode"),
        (encode(question()), CHUNKS, 1, "decode"),
        (encode(question()), RuntimeError("a fault of ours"), 2, "process"),
    ],
)
def test_poison_becomes_a_dead_letter(
    sent: bytes, chunks: Mapping[int, LogChunk] | Exception, partitions: int, stage: str
) -> None:
    one = answerer(chunks, partitions=partitions)
    (written,) = one.handle(message(sent))
    letter = decode(DeadLetter, written.value or b"")
    assert (letter.topic, letter.stage, letter.value) == ("model-questions", stage, sent)
    assert value(one.metrics.dead_letters) == 1


def test_a_question_reads_its_own_job_alone_and_few_chunks() -> None:
    broker = MemoryBroker(partitions=2)
    foreign = LogChunk(job="other", producer="p", lines=["error: a secret"], time=1.0, first_line=1)
    for _ in range(200):
        broker.append(outgoing(foreign))
    (partition,) = {each.position.partition for each in broker.read("job-logs")}
    chunks_of = chunks_by_offset(broker)
    asked = question(partition=partition, chunks=[ChunkReference(offset) for offset in range(-5, 200)])
    assert 0 < len(chunks_of(asked)) <= MOST
    one = QuestionAnswerer(Sensible(), chunks_of, 2)
    # Offsets below 0 are refused where a record is read.
    broker.append(outgoing(question(partition=partition, chunks=[ChunkReference(offset) for offset in range(200)])))
    worker = LocalModelWorker(broker, one)
    assert worker.step() == 1
    assert broker.read("model-answers") == []
    assert (value(one.metrics.questions), value(one.metrics.nothing_to_ask)) == (1, 1)
    assert worker.step() == 0, "it is committed"
