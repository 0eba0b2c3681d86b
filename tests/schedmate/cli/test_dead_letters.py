"""`dead-letters` as an operator types it, on a real Kafka."""

import json
import os
import time
from collections.abc import Iterator

import msgspec
import pytest

from schedmate_records import DeadLetter, Position, decode
from streams.accept import accept, refuse
from streams.dead_letters import DeadLetterError, find, original
from streams.kafka import KafkaConsumer, KafkaProducer, read_back
from streams.transport import Message, Outgoing, outgoing
from tests.schedmate.forked import run_forked
from tests.servers.kafka import Kafka

from .test_terminal import ACTS, harmless

pytestmark = pytest.mark.kafka

BINARY = bytes(range(256)) * 3


class Site:
    def __init__(self, kafka: Kafka) -> None:
        self.kafka = kafka
        self.producer = KafkaProducer(kafka.connection)

    def run(self, *arguments: str, code: int = 0, given: str = "") -> str:
        environment = {**os.environ, "SCHEDMATE_CONFIG": os.devnull, "SCHEDMATE_KAFKA__BROKERS": self.kafka.address}
        done = run_forked("dead-letters", *arguments, env=environment, text=given.encode())
        self.bytes = done.stdout
        said = (done.stdout + done.stderr).decode(errors="replace")
        assert done.returncode == code, said
        assert "Traceback" not in said
        return said

    def die(
        self, place: Position, key: bytes | None, value: bytes, stage: str = "decode", **changes: object
    ) -> DeadLetter:
        letter = msgspec.structs.replace(
            refuse(Message(place, key, value, time.time()), f"no good {ACTS}", stage), **changes
        )
        self.producer.send(outgoing(letter)).result(20)
        return letter

    def messages(self, topic: str) -> list[Message]:
        return list(read_back(self.kafka.connection, [topic]))


@pytest.fixture
def site(own_kafka: Kafka) -> Iterator[Site]:
    site = Site(own_kafka)
    yield site
    site.producer.close()


def test_letters_are_listed_shown_and_sent_again_as_they_were(site: Site) -> None:
    assert "no dead letters" in site.run("list")
    text = site.die(Position("job-logs", 2, 3), b"7", f"hello {ACTS}".encode())
    binary = site.die(Position("job-events", 1, 9), None, BINARY, "process")
    cut = site.die(Position("job-events", 1, 10), b"8", b"abc", "quarantine", size=9_000_000, truncated=True)
    again = site.die(Position("job-logs", 2, 3), b"7", f"hello {ACTS}".encode())
    assert again.id == text.id

    listed = site.run("list")
    harmless(listed)
    assert [letter.id in listed for letter in (text, binary, cut)] == [True, True, True]
    assert listed.count(text.id) == 1
    assert "9,000,000 (cut)" in listed
    only = [json.loads(each)["id"] for each in site.run("list", "--topic", "job-events", "--json").splitlines()]
    assert only == [binary.id, cut.id]
    assert [json.loads(each)["id"] for each in site.run("list", "--stage", "process", "--json").splitlines()] == [
        binary.id
    ]
    assert len(site.run("list", "--since", "1h", "--json").splitlines()) == 3
    assert "no dead letters" in site.run("list", "--since", "2100-01-01")
    assert "expected --since" in site.run("list", "--since", "soon", code=2)

    shown = site.run("show", text.id)
    harmless(shown)
    assert "hello \\x1b]0;owned" in shown
    shown = site.run("show", "job-events/1/9")
    harmless(shown)
    assert "00000010  10 11 12" in shown
    site.run("show", "job-events/1/9", "--raw")
    assert site.bytes == BINARY
    assert "no dead letter nonsense" in site.run("show", "nonsense", code=2)

    before = {topic: len(site.messages(topic)) for topic in ("job-logs", "job-events")}
    said = site.run("replay", text.id, "job-events/1/9")
    harmless(said)
    assert "sent again to job-logs/2" in said
    for topic, letter in (("job-logs", text), ("job-events", binary)):
        (found,) = site.messages(topic)[before[topic] :]
        assert (found.position.partition, found.key, found.value) == (letter.partition, letter.key, letter.value)
    refused = site.run("replay", text.id, cut.id, code=2)
    assert "only 3 of 9,000,000 bytes were kept" in refused
    assert len(site.messages("job-logs")) == before["job-logs"] + 1, "nothing is sent where one cannot be"


def test_what_must_not_be_sent_again_is_not() -> None:
    letter = refuse(Message(Position("job-logs", 0, 1), b"7", b"abc", 1.0), "why")
    assert original(letter) == Outgoing("job-logs", b"7", b"abc", 0)
    for changes in (
        {"value": b"abd"},
        {"truncated": True},
        {"topic": "job-state"},
        {"topic": "dead-letters"},
        {"topic": "../x"},
    ):
        with pytest.raises(DeadLetterError):
            original(msgspec.structs.replace(letter, **changes))
    with pytest.raises(DeadLetterError, match="no dead letter x, y"):
        find([letter], ["x", letter.id, "y"])


def test_a_message_is_passed_over_only_where_a_stopped_group_stands(site: Site) -> None:
    sent = [Outgoing("job-logs", b"7", f"{number} {ACTS}".encode(), 1) for number in range(4)]
    for message in sent:
        site.producer.send(message).result(20)
    with KafkaConsumer(site.kafka.connection, "schedmate-worker", ["job-logs"], 3) as running:
        taken: list[Message] = []
        while not taken:
            taken += running.poll(0.5, 1)
        running.commit()
        assert "run: stop all of them first" in site.run("skip", "job-logs", "1", "1", "--yes", code=2)
    assert "is past it" in site.run("skip", "job-logs", "1", "0", "--yes", code=2)
    assert "before that message" in site.run("skip", "job-logs", "1", "2", "--yes", code=2)
    assert "found none" in site.run("skip", "job-logs", "0", "0", "--yes", code=2)
    assert "expected a partition" in site.run("skip", "job-logs", "9", "0", "--yes", code=2)
    assert "expected --for" in site.run("skip", "job-logs", "1", "1", "--for", "me", code=2)
    site.run("skip", "job-logs", "1", "1", given="n\n", code=1)
    assert site.messages("dead-letters") == []

    said = site.run("skip", "job-logs", "1", "1", given="y\n")
    harmless(said)
    assert "reads on at job-logs/1/2" in said
    (kept,) = [decode(DeadLetter, each.value) for each in site.messages("dead-letters")]
    assert (kept.topic, kept.partition, kept.offset, kept.stage) == ("job-logs", 1, 1, "quarantine")
    assert (kept.key, kept.value, kept.size) == (b"7", sent[1].value, len(sent[1].value or b""))
    with KafkaConsumer(site.kafka.connection, "schedmate-worker", ["job-logs"], 3) as running:
        rest: list[Message] = []
        while len(rest) < 2:
            rest += running.poll(0.5)
    assert [message.position.offset for message in rest] == [2, 3]
    assert accept(rest[0])
