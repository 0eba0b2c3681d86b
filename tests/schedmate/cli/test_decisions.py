"""`schedmate decisions` against a real Kafka: what it shows of an empty topic, and of a message that is malformed."""

import os
import re
import subprocess
import sys
import time

import msgspec
import pytest

from streams.kafka import KafkaProducer
from streams.transport import Outgoing, outgoing
from tests.schedmate.notifications.test_notifier import DECISION
from tests.servers.kafka import Kafka

pytestmark = pytest.mark.kafka


def run(kafka: Kafka, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"SCHEDMATE_CONFIG": os.devnull, "SCHEDMATE_KAFKA__BROKERS": kafka.address}
    return subprocess.run(
        [sys.executable, "-m", "schedmate", *arguments], env=environment, capture_output=True, text=True, timeout=120, check=True
    )  # fmt: skip


def test_there_are_none_yet_and_one_malformed_message_is_one_warning(own_kafka: Kafka) -> None:
    assert run(own_kafka, "decisions").stdout == "no decisions yet\n"
    assert run(own_kafka, "decisions", "--job", "1").stdout == "no decisions about job 1\n"
    assert run(own_kafka, "decisions", "waiting").stdout == "no decision waits for approval\n"
    producer = KafkaProducer(own_kafka.connection)
    producer.send(Outgoing("decisions", b"1", b"{ no record")).result(30)
    decision = msgspec.structs.replace(DECISION, time=time.time(), expires=time.time() + 600)
    producer.send(outgoing(decision)).result(30)
    producer.close()
    shown = run(own_kafka, "decisions")
    assert shown.stderr.count("\n") == 1, shown.stderr
    assert re.search(r"decisions, partition \d+, offset 0: ", shown.stderr), shown.stderr
    assert "restart 1" in shown.stdout
    for command in (("decisions", "waiting"), ("decisions", "resume", "--reason", "x")):
        assert run(own_kafka, *command).stderr == "", command
