"""A worker on Kafka that asks a model server, and the local runtime that reads its answers and asks nobody, make the same records."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from processors.models.inquirer import FIRST_LOOK
from records import Position, Record
from schedmate.assembly import job_processor
from schedmate.settings import ProcessorSettings
from streams.memory import MemoryBroker
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import Outgoing, outgoing
from tests.processors.models import misbehaving_server as bad
from tests.processors.models.sensible import sensible_server
from tests.servers.kafka import Kafka
from tests.streams.runtimes.test_conformance import RESULTS, by_id
from tests.streams.runtimes.workers import chunk, command, endings, send, wait_for

JOBS, CHUNKS, PER_CHUNK = 3, 8, 10


def odd() -> list[Record]:
    """Chunks of jobs whose reports no grammar knows; each ends in a line that no signature knows."""
    made: list[Record] = []
    for number in range(CHUNKS):
        for index in range(JOBS):
            steps = range(number * PER_CHUNK + 1, (number + 1) * PER_CHUNK + 1)
            lines = [f"zug {step} obj {10 / step:.4f} tick 100.0" for step in steps]
            if number == CHUNKS - 1:
                lines[-1] = "something is wrong: cannot write, no space"
            whole = chunk(f"job-{index}", number, lines, PER_CHUNK)
            made.append(msgspec.structs.replace(whole, after_ms=[100 * place for place in range(PER_CHUNK)]))
    return made


class Local:
    """The local runtime, which asks nobody."""

    def __init__(self) -> None:
        self._broker = MemoryBroker(partitions=4)
        self._worker = LocalWorker(self._broker, [Engine(job_processor(ProcessorSettings()))])

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
    asked = JOBS * FIRST_LOOK // PER_CHUNK  # chunks until the question; that its answer was read shows in a record
    with (
        bad.misbehaving(sensible_server) as server,
        command(own_kafka, "worker", log=log, SCHEDMATE_LANGUAGE_MODEL__SERVERS=server.url),
    ):
        for records, answers in ((logs[:asked], JOBS), (logs[asked:], JOBS), (endings(1), JOBS + 1)):
            send(own_kafka, records)
            local.read(outgoing(record) for record in records)
            found = wait_for(own_kafka, ["model-answers"], answers, log)
            new = [each for each in found if each.position not in told]
            told |= {each.position for each in new}
            expected = local.read(
                Outgoing("model-answers", each.key, each.value, each.position.partition) for each in new
            )
            results = wait_for(own_kafka, RESULTS, len(expected), log)
        assert len(server.requests) >= 2
    assert by_id(results) == expected
    assert len(results) == len(expected), "nothing was written twice"
    assert any(name.startswith("failure-review/") for name in expected)
    assert sum(b'"method":"model"' in each.value for each in results) >= 2 * JOBS
