"""examples/subscriber.py on a real broker."""

import importlib.util
import time
import uuid

import msgspec
import pytest

from schedmate_records import Action, Decision, Mode
from streams.kafka import KafkaProducer
from streams.transport import outgoing
from tests.docs.pages import ROOT
from tests.servers.kafka import Kafka


def decision(job: str, **changes: object) -> Decision:
    now = time.time()
    made = Decision(
        id=f"restart/{job}/0/test",
        action=Action.RESTART,
        job=job,
        time=now,
        expires=now + 600,
        mode=Mode.ACT,
        policy="a test",
        reason="its GPU is gone",
        exclude_nodes=["n1"],
    )
    return msgspec.structs.replace(made, **changes)


@pytest.mark.kafka
def test_each_decision_is_carried_out_once(kafka: Kafka, capsys: pytest.CaptureFixture[str]) -> None:
    job, alone = uuid.uuid4().hex, uuid.uuid4().hex
    producer = KafkaProducer(kafka.connection)
    packed = decision(alone, id=f"cancel/{alone}", action=Action.CANCEL_PACKING, beneficiary=job, exclude_nodes=[])
    for each in (decision(job), decision(job), packed, decision(alone, mode=Mode.SHADOW)):
        producer.send(outgoing(each)).result(30)
    producer.close()
    spec = importlib.util.spec_from_file_location("subscriber", ROOT / "examples" / "subscriber.py")
    assert spec
    assert spec.loader
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main(kafka.address, uuid.uuid4().hex, seconds=3)
    printed = capsys.readouterr().out.splitlines()
    assert printed.count(f"start {job} again, away from n1") == 1
    assert printed.count(f"run {alone} alone, for the good of {job}") == 1
    assert f"start {alone} again, away from n1" not in printed
