"""Workers and model workers on Kafka, and the local runtime that reads the same answers, make the same records."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from processors.formats import KnownFormats
from processors.settings import ProcessorSettings
from schedmate.assembly import job_processor
from schedmate_records import (
    ColumnMeaning,
    ColumnRole,
    DeadLetter,
    ErrorType,
    Failure,
    KnownFormat,
    ModelAnswer,
    Position,
    Record,
    Reports,
    TemplateFormat,
    decode,
)
from streams.kafka import KafkaProducer, read_back
from streams.memory import MemoryBroker
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import Outgoing, outgoing
from tests.servers.kafka import Kafka
from tests.streams.model_worker import misbehaving_server as bad
from tests.streams.runtimes.test_conformance import RESULTS, by_id
from tests.streams.runtimes.workers import chunk, command, endings, send, until, wait_for

from .sensible import sensible_server

JOBS, CHUNKS, PER_CHUNK = 3, 8, 10
ASKING = {"SCHEDMATE_PROCESSORS__ASK_MODELS": "true"}
ASKED_AFTER = 2 * JOBS
"""Chunks after which the format of each job is asked about."""
KNOWN = KnownFormat(
    id="format/f/m/1.000", fingerprint="f", time=1.0, author="m", training=True,
    templates=[TemplateFormat("zug {} obj {} tick {}", Reports.TRAINING, sample="zug 1.0 obj 10.0000 tick 100.0", columns=[
        ColumnMeaning(0, ColumnRole.STEP), ColumnMeaning(1, ColumnRole.LOSS), ColumnMeaning(2, ColumnRole.STEP_TIME, "ms")])],
)  # fmt: skip


def odd() -> list[Record]:
    """Chunks of jobs whose reports no grammar knows; each ends in a line that no signature knows."""
    made: list[Record] = []
    for number in range(CHUNKS):
        for index in range(JOBS):
            steps = range(number * PER_CHUNK + 1, (number + 1) * PER_CHUNK + 1)
            lines = [f"zug {step}.0 obj {10 / step:.4f} tick 100.0" for step in steps]
            if number == CHUNKS - 1:
                lines[-1] = "something is wrong: cannot write, no space"
            whole = chunk(f"job-{index}", number, lines, PER_CHUNK)
            made.append(msgspec.structs.replace(whole, after_ms=[100 * place for place in range(PER_CHUNK)]))
    return made


class Local:
    """The local runtime, which asks nobody and knows the format."""

    def __init__(self) -> None:
        self._broker = MemoryBroker(partitions=4)
        self._worker = LocalWorker(
            self._broker, [Engine(job_processor(ProcessorSettings(), formats=KnownFormats([KNOWN])))]
        )

    def read(self, messages: Iterable[Outgoing]) -> dict[str, bytes]:
        """Take `messages`; return all results so far, by id."""
        for message in messages:
            self._broker.append(message)
        while self._worker.step():
            pass
        return by_id([message for topic in RESULTS for message in self._broker.read(topic)])


@pytest.mark.kafka
def test_answers_on_the_topic_make_the_same_records_in_both_runtimes(own_kafka: Kafka, tmp_path: Path) -> None:
    logs, log, local, told = odd(), tmp_path / "worker.log", Local(), set[Position]()
    send(own_kafka, [KNOWN])
    with (
        bad.misbehaving(sensible_server) as server,
        command(own_kafka, "worker", log=log, **ASKING),
        command(own_kafka, "model-worker", log=tmp_path / "model.log", SCHEDMATE_LANGUAGE_MODEL__SERVERS=server.url),
    ):
        for records, answers in ((logs, 0), (endings(1), 1)):
            send(own_kafka, records)
            local.read(outgoing(record) for record in records)
            found = wait_for(own_kafka, ["model-answers"], answers, log) if answers else []
            new = [each for each in found if each.position not in told]
            told |= {each.position for each in new}
            expected = local.read(
                Outgoing("model-answers", each.key, each.value, each.position.partition) for each in new
            )
            results = wait_for(own_kafka, RESULTS, len(expected), log)
        asked = [request["messages"][0]["content"] for request in server.requests]
        assert asked
        assert not any(each.startswith("You read logs") for each in asked), "the format is known"
    assert by_id(results) == expected
    assert len(results) == len(expected), "nothing was written twice"
    assert any(b'"opinions"' in each.value for each in results)
    assert sum(b'"method":"model"' in each.value for each in results) >= 2 * JOBS


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_killed_workers_and_model_workers_lose_no_question_and_revise_each_verdict_once(
    own_kafka: Kafka, tmp_path: Path
) -> None:
    """SIGKILL of the only worker and of the only model worker, each while it has work."""
    logs, log, model_log = odd(), tmp_path / "worker.log", tmp_path / "model.log"
    with bad.misbehaving(bad.after(0.3, sensible_server)) as server:
        asked = {"SCHEDMATE_LANGUAGE_MODEL__SERVERS": server.url}
        with command(own_kafka, "worker", log=log, **ASKING):  # killed at the block's end
            send(own_kafka, logs[:18])
            wait_for(own_kafka, ["model-questions"], JOBS, log)
        with command(own_kafka, "model-worker", log=model_log, **asked):
            until(lambda: len(server.requests) >= 1, model_log)
        with (
            command(own_kafka, "worker", log=log, **ASKING),
            command(own_kafka, "model-worker", log=model_log, **asked),
        ):
            send(own_kafka, [*logs[18:], *endings(JOBS)])
            until(lambda: bool(said := verdicts(own_kafka)) and newest(said).source == "model", log)
            until(lambda: bool(answers(own_kafka) and formats(own_kafka)), model_log)
    said = verdicts(own_kafka)
    assert {each.job for each in said.values()} == {"job-0"}
    assert sorted(each.revision for each in said.values()) == list(range(1, len(said) + 1))
    reviewed = newest(said)
    assert (reviewed.source, reviewed.final, reviewed.error_type) == ("model", True, ErrorType.INFRASTRUCTURE)
    assert reviewed.root is not None
    assert reviewed.root.text == "something is wrong: cannot write, no space"
    assert len(formats(own_kafka)) == 1, "the jobs have one format"
    assert list(read_back(own_kafka.connection, ["dead-letters"])) == []


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_questions_wait_while_the_model_is_away_and_poison_is_set_aside(own_kafka: Kafka, tmp_path: Path) -> None:
    log, model_log = tmp_path / "worker.log", tmp_path / "model.log"
    producer = KafkaProducer(own_kafka.connection)
    producer.send(Outgoing("model-questions", b"x", b"no question")).result(30)
    producer.close()
    failing = [bad.status(500)] * 3  # then it is left alone for a while
    with (
        bad.misbehaving(*failing, sensible_server) as server,
        command(own_kafka, "worker", log=log, **ASKING),
        command(
            own_kafka, "model-worker", log=model_log, SCHEDMATE_LANGUAGE_MODEL__SERVERS=server.url,
            SCHEDMATE_LANGUAGE_MODEL__ATTEMPTS="9",
        ),
    ):  # fmt: skip
        send(own_kafka, odd()[:ASKED_AFTER])
        until(lambda: len(formats(own_kafka)) == 1, model_log)
    assert len(server.requests) > len(failing)
    assert "question_waits" in model_log.read_text()
    (letter,) = [decode(DeadLetter, each.value) for each in read_back(own_kafka.connection, ["dead-letters"])]
    assert (letter.topic, letter.value) == ("model-questions", b"no question")


def answers(broker: Kafka) -> dict[str, ModelAnswer]:
    found = [decode(ModelAnswer, message.value) for message in read_back(broker.connection, ["model-answers"])]
    return {each.id: each for each in found}


def formats(broker: Kafka) -> set[str]:
    found = [decode(KnownFormat, message.value) for message in read_back(broker.connection, ["formats"])]
    return {each.fingerprint for each in found}


def verdicts(broker: Kafka) -> dict[str, Failure]:
    found = [decode(Failure, message.value) for message in read_back(broker.connection, ["failures"])]
    return {each.id: each for each in found}


def newest(said: dict[str, Failure]) -> Failure:
    return max(said.values(), key=lambda each: each.revision)
