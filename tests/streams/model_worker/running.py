"""One job through a worker and a model worker in one process: chunk by chunk, with time for answers in between."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from processors.alarms.monitor import AlarmMonitor
from processors.classify.classifier import LineClassifier
from processors.diagnose.handler import FailureHandler
from processors.diagnose.stage import Diagnosis
from processors.formats import FormatReader, KnownFormats
from processors.interference.monitor import InterferenceMonitor
from processors.job import JobProcessor
from processors.placements import Placements
from processors.stream_reader import StreamReader
from processors.track.tracker import MetricTracker
from schedmate_records import (
    BY_NAME,
    EventKind,
    Failure,
    JobEvent,
    JobMetric,
    KnownFormat,
    LogChunk,
    ModelAnswer,
    ModelQuestion,
    Record,
    Slowdown,
    decode,
)
from streams.memory import MemoryBroker
from streams.model_worker.answering import AnsweringMetrics, QuestionAnswerer
from streams.model_worker.chunks import chunks_by_offset
from streams.model_worker.language_model import LanguageModel
from streams.runtimes.engine import Engine
from streams.runtimes.known_formats import TOPIC, FormatsFollower
from streams.runtimes.local_worker import LocalWorker
from streams.transport import outgoing
from tests.streams.model_worker.local_worker import LocalModelWorker

HANDLER, CLASSIFIER = FailureHandler(), LineClassifier()
"""They hold no job's state, and take a while to make."""

RESULTS = ("job-metrics", "failures", "slowdowns", "dead-letters")


@dataclass
class Ran:
    """What was written, by topic and in order, and the worker's processor."""

    broker: MemoryBroker
    processor: JobProcessor
    sent: list[Record] = field(default_factory=list)
    answering: AnsweringMetrics = field(default_factory=AnsweringMetrics)

    def records(self, topic: str) -> list[Record]:
        kind = BY_NAME[topic].record
        return [decode(kind, message.value) for message in self.broker.read(topic)]

    @property
    def metrics(self) -> list[JobMetric]:
        return [each for each in self.records("job-metrics") if isinstance(each, JobMetric)]

    @property
    def failures(self) -> list[Failure]:
        return [each for each in self.records("failures") if isinstance(each, Failure)]

    @property
    def slowdowns(self) -> list[Slowdown]:
        return [each for each in self.records("slowdowns") if isinstance(each, Slowdown)]

    @property
    def answers(self) -> list[ModelAnswer]:
        return [each for each in self.records("model-answers") if isinstance(each, ModelAnswer)]

    @property
    def formats(self) -> list[KnownFormat]:
        return [each for each in self.records("formats") if isinstance(each, KnownFormat)]

    @property
    def questions(self) -> list[ModelQuestion]:
        return [each for each in self.records("model-questions") if isinstance(each, ModelQuestion)]

    def results(self) -> dict[str, list[bytes]]:
        return {topic: [message.value for message in self.broker.read(topic)] for topic in RESULTS}


def input_of(lines: Sequence[str], times: Sequence[float], exit_code: int, per_chunk: int = 20) -> list[Record]:
    """Return a job's chunks and its end."""
    made: list[Record] = []
    for at in range(0, len(lines), per_chunk):
        piece = slice(at, at + per_chunk)
        after = [round(1000 * (each - times[at])) for each in times[piece]]
        made.append(
            LogChunk(
                job="j", producer="p", seq=at, node="n1", lines=list(lines[piece]), first_line=at + 1, first_piece=at + 1,
                time=times[at], after_ms=after,
            )
        )  # fmt: skip
    made.append(JobEvent(id="e", job="j", kind=EventKind.ENDED, time=times[-1] + 1, exit_code=exit_code, scheduler="x"))
    return made


PARTITIONS = 2


def answerer_of(broker: MemoryBroker, model: LanguageModel) -> QuestionAnswerer:
    """Return what answers the questions on `broker` with `model`."""
    return QuestionAnswerer(model, chunks_by_offset(broker), PARTITIONS)


def job_processor(*, ask_models: bool) -> JobProcessor:
    """Return the processors of a job that share what takes long to make."""
    stages = [Placements(), AlarmMonitor(), InterferenceMonitor(), Diagnosis(HANDLER, ask_models=ask_models)]
    tracker = MetricTracker(formats=FormatReader(KnownFormats(), surveys=ask_models))
    return JobProcessor(StreamReader(CLASSIFIER, tracker), stages, ask_models=ask_models)


def run(records: Sequence[Record], model: LanguageModel | None, formats: Sequence[KnownFormat] = ()) -> Ran:
    """Feed `records` to a worker one by one; after each, answer the questions that it raised, and let the answers be read.

    `formats` are known from the start.
    """
    broker = MemoryBroker(partitions=PARTITIONS)
    processor = job_processor(ask_models=model is not None)
    worker = LocalWorker(broker, [Engine(processor, PARTITIONS)])
    for each in formats:
        processor.formats.add(each)
    stated = broker.consumer("formats", (TOPIC,))
    follower = FormatsFollower(lambda: stated.poll(0.0, 100), processor.formats)
    answerer = answerer_of(broker, model) if model else None
    model_worker = LocalModelWorker(broker, answerer) if answerer else None
    for record in records:
        broker.append(outgoing(record))
        while worker.step() or (model_worker is not None and model_worker.step()):
            follower.look()
    return Ran(broker, processor, list(records), answerer.metrics if answerer else AnsweringMetrics())


def replay(ran: Ran) -> Ran:
    """Feed all that a worker read, answers included and in the same order, to one that asks nobody and knows no formats."""
    broker, processor = MemoryBroker(partitions=2), job_processor(ask_models=False)
    worker = LocalWorker(broker, [Engine(processor, 2)])
    inputs = [message for topic in processor.inputs for message in ran.broker.read(topic)]
    for message in sorted(inputs, key=lambda message: message.time):
        broker.append(outgoing(decode(BY_NAME[message.position.topic].record, message.value)))
        while worker.step():
            pass
    return Ran(broker, processor)
