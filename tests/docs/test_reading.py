"""docs/records.md: reading a topic with plain kafka-python, on a real broker."""

import json
import uuid

import pytest

from streams.kafka import KafkaProducer
from streams.transport import Outgoing
from tests.servers.kafka import Kafka

from .pages import ROOT, blocks
from .test_record_examples import example


class _SeenError(Exception):
    """What was sent has been printed; the program would read on for ever."""


@pytest.mark.kafka
def test_the_program_that_is_shown_prints_a_failure(kafka: Kafka) -> None:
    job = uuid.uuid4().hex
    value = json.dumps(json.loads(example("failures")) | {"job": job}).encode()
    producer = KafkaProducer(kafka.connection)
    producer.send(Outgoing("failures", job.encode(), value)).result(30)
    producer.close()
    (program,) = [block for block in blocks((ROOT / "docs" / "records.md").read_text()) if "KafkaConsumer" in block]
    for shown, here in (
        ('"localhost:9092"', f'"{kafka.address}"'),
        ('"my-dashboard"', f'"{uuid.uuid4().hex}"'),
    ):
        assert shown in program
        program = program.replace(shown, here)
    printed = []

    def show(*words: object) -> None:
        printed.append(" ".join(map(str, words)))
        if words[0] == job:
            raise _SeenError

    with pytest.raises(_SeenError):
        exec(compile(program, "docs/records.md", "exec"), {"print": show})
    assert printed[-1].startswith(f"{job} infrastructure NVRM: Xid")
