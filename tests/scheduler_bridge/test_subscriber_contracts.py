"""What a subscriber may rely on: signatures, replay from a time, lag, and records of a later version."""

import json
import time
import uuid
from pathlib import Path
from typing import Any

import kafka as kafka_python
import msgspec
import pytest
from structlog.testing import capture_logs

from schedmate_records import Action, Decision, DecisionResult, Mode, Outcome, encode
from scheduler_bridge import SigningKeyError, SigningKeys, subscribe
from tests.servers.kafka import Kafka

pytestmark = pytest.mark.kafka

KEYS = SigningKeys({"ops-2031": b"k" * 32})


def decision(name: str, **changes: Any) -> Decision:
    now = time.time()
    fields: dict[str, Any] = {
        "id": name,
        "action": Action.RESTART,
        "job": "1",
        "time": now,
        "expires": now + 600,
        "mode": Mode.ACT,
        "policy": "test",
        "reason": "a test",
    }
    return Decision(**fields | changes)


def send(broker: Kafka, *values: bytes, topic: str = "decisions") -> None:
    producer = kafka_python.KafkaProducer(bootstrap_servers=broker.address)
    for value in values:
        producer.send(topic, key=b"1", value=value).get(10)
    producer.close()


def ids(broker: Kafka, group: str = "", **options: Any) -> list[str]:
    with subscribe(broker.address, group or uuid.uuid4().hex, timeout=3, **options) as decisions:
        found = []
        for delivery in decisions:
            found.append(delivery.decision.id)
            delivery.ack()
        return found


def test_what_no_key_signed_is_never_to_be_carried_out(own_kafka: Kafka, tmp_path: Path) -> None:
    good = KEYS.sign(decision("good"))
    forged = msgspec.structs.replace(good, id="forged")
    stranger = SigningKeys({"ops-2031": b"x" * 32}).sign(decision("stranger"))
    unknown = SigningKeys({"other": b"k" * 32}).sign(decision("unknown"))
    send(own_kafka, *map(encode, (decision("unsigned"), good, forged, stranger, unknown)))
    file = tmp_path / "signing-keys"
    file.write_text("ops-2031 " + "k" * 32 + "\n")
    with (
        capture_logs() as logged,
        subscribe(own_kafka.address, uuid.uuid4().hex, keys=file, timeout=3) as decisions,
    ):
        (only,) = list(decisions)
        assert (only.decision.id, only.signed, decisions.counters.unsigned) == ("good", True, 4)
    told = [line["decision"] for line in logged if line["event"] == "decision_not_signed"]
    assert told == ["unsigned", "forged", "stranger", "unknown"]
    assert "k" * 32 not in str(logged)
    with subscribe(own_kafka.address, uuid.uuid4().hex, keys=KEYS, everything=True, timeout=3) as everything:
        assert [each.signed for each in everything] == [False, True, False, False, False]
    with subscribe(own_kafka.address, uuid.uuid4().hex, timeout=3) as without_keys:
        assert {each.signed for each in without_keys} == {None}
    with pytest.raises(SigningKeyError):
        subscribe(own_kafka.address, "group", keys=tmp_path / "nothing")


def test_replay_from_a_time_and_lag(own_kafka: Kafka) -> None:
    group = uuid.uuid4().hex
    send(own_kafka, *map(encode, (decision("a"), decision("b"))))
    time.sleep(0.05)
    middle = time.time()
    time.sleep(0.05)
    send(own_kafka, *map(encode, (decision("c"), decision("d"))))
    assert ids(own_kafka, group) == ["a", "b", "c", "d"]
    assert ids(own_kafka, group) == []
    assert ids(own_kafka, group, since=middle) == ["c", "d"]
    assert ids(own_kafka, group) == []
    assert ids(own_kafka, group, since=0.0) == ["a", "b", "c", "d"]
    assert ids(own_kafka, uuid.uuid4().hex, since=time.time() + 60) == []
    with subscribe(own_kafka.address, group, since=middle, timeout=10) as decisions:
        first = next(decisions)
        assert (first.decision.id, decisions.lag()) == ("c", 1)
        send(own_kafka, *(encode(decision(f"e{number}")) for number in range(5)))
        assert decisions.lag() == 6
        assert [next(decisions).decision.id for _ in range(6)] == ["d", "e0", "e1", "e2", "e3", "e4"]
        assert decisions.lag() == 0
    # None of it was acknowledged, so the group stands where it stood before.
    assert ids(own_kafka, group) == ["e0", "e1", "e2", "e3", "e4"]


def test_a_later_version_is_read_by_this_one(own_kafka: Kafka) -> None:
    new = json.loads(encode(decision("new"))) | {"v": 2, "cost_gpu_hours": 3.5, "approvals": [{"by": "ada"}]}
    strange = json.loads(encode(decision("strange"))) | {"v": 2, "action": "reboot"}
    misses = {name: value for name, value in new.items() if name != "expires"}
    over = json.loads(encode(decision("over"))) | {"v": 2}
    send(own_kafka, *(json.dumps(each).encode() for each in (new, strange, misses, over)))
    result = DecisionResult(
        id="over/started",
        decision_id="over",
        action=Action.RESTART,
        job="1",
        time=0.0,
        outcome=Outcome.STARTED,
        detail="",
    )
    later = json.loads(encode(result)) | {"v": 2, "by": "bridge-7"}
    send(own_kafka, json.dumps(later).encode(), topic="decision-results")
    dead: list[bytes] = []
    with subscribe(
        own_kafka.address, uuid.uuid4().hex, timeout=3, on_dead=lambda each: dead.append(each.value)
    ) as decisions:
        (only,) = list(decisions)
    assert (only.decision.id, only.decision.v) == ("new", 2)
    assert [json.loads(value)["id"] for value in dead] == ["strange", "new"]


def test_what_is_signed_may_be_of_a_later_version(own_kafka: Kafka) -> None:
    """New fields are not signed by the keys of this version, and change nothing of what it carries out."""
    signed = json.loads(encode(KEYS.sign(decision("signed")))) | {"v": 2, "cost_gpu_hours": 3.5}
    changed = signed | {"id": "changed"}
    send(own_kafka, *(json.dumps(each).encode() for each in (signed, changed)))
    assert ids(own_kafka, keys=KEYS) == ["signed"]
