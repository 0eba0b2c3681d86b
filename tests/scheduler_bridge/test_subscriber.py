"""The subscriber on a real broker."""

import threading
import time
import uuid
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import kafka as kafka_python
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import KafkaConnectionError

from records import Action, Decision, Mode, encode
from scheduler_bridge import DeadRecord, Delivery, SubscriptionError, subscribe
from scheduler_bridge.offsets import Offsets
from streams.transport import TransportError
from tests.scheduler_bridge.findings import NOW
from tests.servers import free_port
from tests.servers.kafka import Kafka, start_kafka

DOCUMENT = Path(__file__).parents[2] / "docs" / "decisions.md"


@given(st.lists(st.integers(1, 3), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_the_border_never_passes_what_is_open(gaps: list[int], random: Any) -> None:
    offsets, taken = Offsets(), []
    position = 0
    for gap in gaps:
        position += gap
        taken.append(position)
        offsets.take(0, position)
    left = list(taken)
    random.shuffle(left)
    while left:
        border = offsets.ready().get(0, taken[0])
        assert border == min(left)
        settled = left.pop()
        assert offsets.settle(0, settled)
        assert not offsets.settle(0, settled)
    assert offsets.ready() == {0: taken[-1] + 1}
    offsets.committed({0: taken[-1] + 1})
    assert offsets.ready() == {}


def test_a_partition_that_came_back_begins_again() -> None:
    offsets = Offsets()
    offsets.take(0, 5)
    offsets.take(0, 6)
    offsets.take(0, 5)
    assert not offsets.settle(0, 6)
    assert offsets.settle(0, 5)
    assert offsets.ready() == {0: 6}
    offsets.drop([0])
    assert offsets.ready() == {}


def decision(number: int, **changes: Any) -> Decision:
    fields: dict[str, Any] = {
        "id": f"d{number}",
        "action": Action.RESTART,
        "job": "1",
        "time": NOW,
        "expires": NOW + 100,
        "policy": "test",
        "reason": "a test",
    }
    return Decision(**fields | changes)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A broker whose decisions are this module's alone."""
    broker = start_kafka(Path(tmp_path_factory.mktemp("kafka")))
    try:
        deadline = time.monotonic() + 60
        while True:  # on a busy machine a broker may listen for a while before it answers
            try:
                broker.create_topics(1)
                break
            except TransportError:
                assert time.monotonic() < deadline
        producer = kafka_python.KafkaProducer(bootstrap_servers=broker.address)
        values = [encode(decision(number)) for number in range(3)]
        values.append(b"not a decision")
        values.append(encode(decision(4, action=Action.EVICT, mode=Mode.ACT, expires=NOW - 1)))
        for value in values:
            producer.send("decisions", key=b"1", value=value).get(10)
        producer.close()
        yield broker
    finally:
        broker.kill()


@pytest.mark.kafka
class TestOnKafka:
    def read(self, broker: Kafka, group: str, count: int, **options: Any) -> list[Delivery]:
        """Return `count` deliveries, unacknowledged."""
        with subscribe(broker.address, group, timeout=10, clock=lambda: NOW, **options) as decisions:
            return list(islice(decisions, count))

    def ids(self, deliveries: list[Delivery]) -> list[str]:
        return [delivery.decision.id for delivery in deliveries]

    def test_delivers_until_acknowledged(self, broker: Kafka) -> None:
        group = uuid.uuid4().hex
        assert self.ids(self.read(broker, group, 2)) == ["d0", "d1"]
        with subscribe(broker.address, group, timeout=10) as decisions:
            first = next(decisions)
            first.ack()
            first.ack()
            assert decisions.counters.acknowledged == 1
        assert self.ids(self.read(broker, group, 1)) == ["d1"]

    def test_a_commit_that_a_dying_broker_did_not_take_is_made_again(
        self, broker: Kafka, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def reset(_: object, **__: object) -> None:
            raise KafkaConnectionError("reset by peer")

        group = uuid.uuid4().hex
        with subscribe(broker.address, group, timeout=10) as decisions:
            first = next(decisions)
            with monkeypatch.context() as dying:  # no broker can be killed at just that moment
                dying.setattr(decisions._consumer, "commit", reset)
                first.ack()
            next(decisions)
        assert self.ids(self.read(broker, group, 1)) == ["d1"]

    def test_a_poll_that_a_dying_broker_did_not_answer_is_made_again(
        self, broker: Kafka, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with subscribe(broker.address, uuid.uuid4().hex, timeout=10) as decisions:
            polls, poll = iter([KafkaConnectionError("111 ECONNREFUSED")]), decisions._consumer.poll

            def once(**arguments: object) -> object:
                if refused := next(polls, None):
                    raise refused
                return poll(**arguments)

            monkeypatch.setattr(decisions._consumer, "poll", once)
            assert next(decisions).decision.id == "d0"

    def test_an_acknowledgement_does_not_pass_over_what_is_open(self, broker: Kafka) -> None:
        group = uuid.uuid4().hex
        with subscribe(broker.address, group, timeout=10) as decisions:
            first, second, third = next(decisions), next(decisions), next(decisions)
            second.ack()
            third.ack()
        assert self.ids(self.read(broker, group, 1)) == ["d0"]
        assert first.decision.id == "d0"

    def test_dead_records_are_told_and_skipped_and_expired_ones_marked(self, broker: Kafka) -> None:
        dead: list[DeadRecord] = []
        with subscribe(
            broker.address, uuid.uuid4().hex, timeout=10, clock=lambda: NOW, on_dead=dead.append
        ) as decisions:
            seen = [next(decisions) for _ in range(4)]
            counters = decisions.counters
        assert [(delivery.decision.id, delivery.expired) for delivery in seen] == [
            ("d0", False),
            ("d1", False),
            ("d2", False),
            ("d4", True),
        ]
        assert [(each.value, each.position.offset) for each in dead] == [(b"not a decision", 3)]
        assert "expected a Decision" in dead[0].reason
        assert (counters.dead, counters.expired, counters.delivered) == (1, 1, 4)

    def test_filters_by_action_and_mode(self, broker: Kafka) -> None:
        assert self.ids(self.read(broker, uuid.uuid4().hex, 1, actions=[Action.EVICT])) == ["d4"]
        assert self.ids(self.read(broker, uuid.uuid4().hex, 1, modes=[Mode.ACT])) == ["d4"]

    def test_acknowledged_from_another_thread(self, broker: Kafka) -> None:
        group = uuid.uuid4().hex
        with subscribe(broker.address, group, timeout=10) as decisions:
            first = next(decisions)
            worker = threading.Thread(target=first.ack)
            worker.start()
            worker.join()
        assert self.ids(self.read(broker, group, 1)) == ["d1"]

    @pytest.mark.parametrize("heading", ["A scheduler in Python", "Plain kafka-python"])
    def test_the_documents_examples_work(self, broker: Kafka, heading: str, capsys: pytest.CaptureFixture[str]) -> None:
        section = DOCUMENT.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
        example = "\n".join(line[4:] for line in section.splitlines() if line.startswith("    ") or not line)
        for old, new in (
            ("localhost:9092", broker.address),
            ('group="my-scheduler"', f'group="{uuid.uuid4().hex}", timeout=2, clock=lambda: 0'),
            ("enable_auto_commit=False,", "enable_auto_commit=False, consumer_timeout_ms=2000,"),
            (
                "decision = json.loads(message.value)",
                "decision = json.loads(message.value if message.offset != 3 else empty)",
            ),
            ("time.time()", "0"),
        ):
            example = example.replace(old, new)
        exec(compile(example, str(DOCUMENT), "exec"), {"empty": '{"expires": 0}'})
        printed = capsys.readouterr().out
        assert printed.count("restart 1") == 3
        assert printed.count("evict 1") == 1

    def test_ends_when_nothing_comes(self, broker: Kafka) -> None:
        with subscribe(broker.address, uuid.uuid4().hex, timeout=2) as decisions:
            assert self.ids(list(decisions)) == ["d0", "d1", "d2", "d4"]


def test_a_broker_that_is_not_there() -> None:
    with pytest.raises(SubscriptionError, match="expected a Kafka broker"):
        subscribe(f"127.0.0.1:{free_port()}", bootstrap_timeout_ms=500)
