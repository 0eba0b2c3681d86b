"""docs/records.md: reading a topic with plain kafka-python, on a real broker."""

import json
import uuid

import pytest

from streams.kafka import KafkaProducer
from streams.transport import Outgoing
from tests.docs.pages import ROOT, blocks
from tests.docs.test_record_examples import example
from tests.servers.kafka import Kafka


@pytest.mark.kafka
def test_the_program_that_is_shown_prints_a_failure(kafka: Kafka, capsys: pytest.CaptureFixture[str]) -> None:
    job = uuid.uuid4().hex
    value = json.dumps(json.loads(example("failures")) | {"job": job}).encode()
    producer = KafkaProducer(kafka.connection)
    producer.send(Outgoing("failures", job.encode(), value)).result(30)
    producer.close()
    (program,) = [block for block in blocks((ROOT / "docs" / "records.md").read_text()) if "KafkaConsumer" in block]
    for shown, here in (
        ('"localhost:9092"', f'"{kafka.address}", consumer_timeout_ms=5000'),
        ('"my-dashboard"', f'"{uuid.uuid4().hex}"'),
    ):
        assert shown in program
        program = program.replace(shown, here)
    exec(compile(program, "docs/records.md", "exec"), {})
    assert f"{job} infrastructure NVRM: Xid" in capsys.readouterr().out
