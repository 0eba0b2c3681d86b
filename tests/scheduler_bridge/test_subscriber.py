"""The subscriber on a real broker."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import kafka as kafka_python
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import KafkaConnectionError, KafkaError, TopicAuthorizationFailedError

from schedmate_records import Action, Decision, DecisionResult, Mode, Outcome, encode
from scheduler_bridge import DeadRecord, Delivery, SubscriptionError, subscribe
from scheduler_bridge.dealt_with import DealtWith
from scheduler_bridge.offsets import Offsets
from streams.kafka import MEMBERSHIP_ERRORS
from streams.transport import TransportError
from tests.docs.pages import ROOT, blocks
from tests.servers import free_port
from tests.servers.kafka import Kafka, start_kafka

from .findings import NOW


@given(st.lists(st.integers(1, 3), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_the_border_never_passes_what_is_open(gaps: list[int], random: Any) -> None:
    offsets, taken = Offsets(), []
    position = 0
    for gap in gaps:
        position += gap
        taken.append(position)
        offsets.add(0, position)
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
    offsets.add(0, 5)
    offsets.add(0, 6)
    offsets.add(0, 5)
    assert not offsets.settle(0, 6)
    assert offsets.settle(0, 5)
    assert offsets.ready() == {0: 6}
    offsets.keep([1])
    assert offsets.ready() == {}


def decision(number: int, **changes: Any) -> Decision:
    fields: dict[str, Any] = {
        "id": f"d{number}",
        "action": Action.RESTART,
        "job": "1",
        "time": NOW,
        "expires": NOW + 100,
        "mode": Mode.ACT,
        "policy": "test",
        "reason": "a test",
    }
    return Decision(**fields | changes)


def once_refused(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return `call`, which the first time fails as where no broker answers."""
    errors = iter([KafkaConnectionError("111 ECONNREFUSED")])

    def refused_first(*arguments: Any, **named: Any) -> Any:
        if error := next(errors, None):
            raise error
        return call(*arguments, **named)

    return refused_first


def result(decision_id: str, outcome: Outcome) -> DecisionResult:
    name = f"{decision_id}/{outcome}"
    return DecisionResult(
        id=name, decision_id=decision_id, action=Action.RESTART, job="1", time=NOW, outcome=outcome, detail=""
    )


EVERYTHING = ["d0", "d1", "d2", "d4", "d5", "d6", "d7", "d8"]
TO_BE_CARRIED_OUT = ["d0", "d1", "d2", "d8"]


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
        values.append(encode(decision(4, expires=NOW - 1)))
        values.append(encode(decision(5, mode=Mode.SHADOW)))
        values += [encode(decision(6)), encode(decision(7)), encode(decision(8, action=Action.EVICT))]
        for value in values:
            producer.send("decisions", key=b"1", value=value).get(10)
        results = [("d5", Outcome.SHADOWED), ("d6", Outcome.STARTED), ("d7", Outcome.REFUSED), ("d8", Outcome.DEFERRED)]
        for value in [b"not a result", *(encode(result(*each)) for each in results)]:
            producer.send("decision-results", key=b"1", value=value).get(10)
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
        with subscribe(broker.address, group, timeout=10, clock=lambda: NOW) as decisions:
            first = next(decisions)
            first.ack()
            first.ack()
            assert decisions.counters.acknowledged == 1
        assert self.ids(self.read(broker, group, 1)) == ["d1"]

    def test_a_commit_that_a_dying_broker_did_not_take_is_made_again(
        self, broker: Kafka, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def reset(*_: object, **__: object) -> None:
            raise KafkaConnectionError("reset by peer")

        group = uuid.uuid4().hex
        with subscribe(broker.address, group, timeout=10, clock=lambda: NOW) as decisions:
            first = next(decisions)
            with monkeypatch.context() as dying:  # no broker can be killed at just that moment
                dying.setattr(kafka_python.KafkaConsumer, "commit", reset)
                first.ack()
            next(decisions)
        assert self.ids(self.read(broker, group, 1)) == ["d1"]

    def test_a_poll_that_a_dying_broker_did_not_answer_is_made_again(
        self, broker: Kafka, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with subscribe(broker.address, uuid.uuid4().hex, timeout=10, clock=lambda: NOW) as decisions:
            monkeypatch.setattr(kafka_python.KafkaConsumer, "poll", once_refused(kafka_python.KafkaConsumer.poll))
            assert next(decisions).decision.id == "d0"

    def test_an_acknowledgement_does_not_pass_over_what_is_open(self, broker: Kafka) -> None:
        group = uuid.uuid4().hex
        with subscribe(broker.address, group, timeout=10, clock=lambda: NOW) as decisions:
            first, second, third = next(decisions), next(decisions), next(decisions)
            second.ack()
            third.ack()
        assert self.ids(self.read(broker, group, 1)) == ["d0"]
        assert first.decision.id == "d0"

    def test_only_what_is_to_be_carried_out_is_delivered(self, broker: Kafka) -> None:
        with subscribe(broker.address, uuid.uuid4().hex, timeout=2, clock=lambda: NOW) as decisions:
            seen = list(decisions)
            counters = decisions.counters
        assert self.ids(seen) == TO_BE_CARRIED_OUT
        assert not any(delivery.expired for delivery in seen)
        assert (counters.delivered, counters.over, counters.skipped, counters.dead) == (4, 3, 1, 1)

    def test_what_the_bridge_does_meanwhile_is_left_out(self, broker: Kafka) -> None:
        with subscribe(broker.address, uuid.uuid4().hex, timeout=2, clock=lambda: NOW) as decisions:
            assert next(decisions).decision.id == "d0"
        with closing(DealtWith(kafka_python.KafkaConsumer(bootstrap_servers=broker.address))) as dealt:
            assert not dealt.knows("later")
            producer = kafka_python.KafkaProducer(bootstrap_servers=broker.address)
            retracted = encode(result("later", Outcome.REFUSED))
            producer.send("decision-results", key=b"1", value=retracted).get(10)
            producer.close()
            assert dealt.knows("later")

    def test_results_that_a_dying_broker_does_not_give_are_waited_for(
        self, broker: Kafka, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with subscribe(broker.address, uuid.uuid4().hex, timeout=10, clock=lambda: NOW) as decisions:
            monkeypatch.setattr(DealtWith, "knows", once_refused(DealtWith.knows))
            assert next(decisions).decision.id == "d0"

    def test_results_that_may_not_be_read_end_it(self, broker: Kafka, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(*_: object) -> bool:
            raise TopicAuthorizationFailedError({"decision-results"})

        with subscribe(broker.address, uuid.uuid4().hex, timeout=10, clock=lambda: NOW) as decisions:
            monkeypatch.setattr(DealtWith, "knows", refused)
            with pytest.raises(SubscriptionError, match="decision-results"):
                next(decisions)

    def test_everything_is_delivered_where_it_is_asked_for(self, broker: Kafka) -> None:
        dead: list[DeadRecord] = []
        options = {"timeout": 2, "clock": lambda: NOW, "on_dead": dead.append, "everything": True}
        with subscribe(broker.address, uuid.uuid4().hex, **options) as decisions:  # type: ignore[arg-type]
            seen = list(decisions)
            counters = decisions.counters
        assert self.ids(seen) == EVERYTHING
        assert [delivery.decision.id for delivery in seen if delivery.expired] == ["d4"]
        assert [(each.value, each.position.offset) for each in dead] == [(b"not a decision", 3)]
        assert "expected a Decision" in dead[0].reason
        assert (counters.dead, counters.expired, counters.delivered) == (1, 1, 8)

    def test_filters_by_action_and_mode(self, broker: Kafka) -> None:
        assert self.ids(self.read(broker, uuid.uuid4().hex, 1, actions=[Action.EVICT])) == ["d8"]
        assert self.ids(self.read(broker, uuid.uuid4().hex, 1, modes=[Mode.SHADOW])) == ["d5"]

    @pytest.mark.parametrize("error", MEMBERSHIP_ERRORS)
    def test_a_commit_during_a_rebalance_is_left_to_the_new_owner(
        self, broker: Kafka, monkeypatch: pytest.MonkeyPatch, error: type[KafkaError]
    ) -> None:
        def moved(*_: object, **__: object) -> None:
            raise error

        group = uuid.uuid4().hex
        with subscribe(broker.address, group, timeout=10, clock=lambda: NOW) as decisions:
            first = next(decisions)
            with monkeypatch.context() as rebalance:
                rebalance.setattr(kafka_python.KafkaConsumer, "commit", moved)
                first.ack()
            next(decisions)
        assert self.ids(self.read(broker, group, 1)) == ["d1"]

    def test_what_was_read_before_a_rebalance_is_still_delivered(
        self, broker: Kafka, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """kafka-python goes on behind what it returned from a partition that stays, though it calls the partition revoked.

        A member that reads another topic comes, so that the group is balanced anew. Each time that results cannot be read, the
        subscription polls with decisions in hand: that is when it joins again.
        """
        group = uuid.uuid4().hex
        rebalanced = threading.Event()

        def away_until_rebalanced(dealt: DealtWith, decision_id: str) -> bool:
            if not rebalanced.is_set():
                raise KafkaConnectionError("111 ECONNREFUSED")
            return knows(dealt, decision_id)

        def join() -> None:
            other = kafka_python.KafkaConsumer("job-events", bootstrap_servers=broker.address, group_id=group)
            while not other.assignment():
                other.poll(timeout_ms=100)
            rebalanced.set()
            other.close(autocommit=False)

        with subscribe(broker.address, group, timeout=30, clock=lambda: NOW) as decisions:
            assert next(decisions).decision.id == "d0"
            knows = DealtWith.knows
            monkeypatch.setattr(DealtWith, "knows", away_until_rebalanced)
            joining = threading.Thread(target=join)
            joining.start()
            assert self.ids(list(islice(decisions, 3))) == TO_BE_CARRIED_OUT[1:]
            joining.join(30)

    def test_members_that_come_and_go_pass_over_nothing(self, broker: Kafka) -> None:
        group = uuid.uuid4().hex
        seen = set()
        with subscribe(broker.address, group, timeout=0.1, clock=lambda: NOW, session_timeout_ms=6000) as steady:
            while (first := next(steady, None)) is None:
                pass
            for _ in range(3):
                with subscribe(broker.address, group, timeout=1, clock=lambda: NOW) as other:
                    for _ in range(3):
                        next(other, None)
                        seen |= {delivery.decision.id for delivery in steady}
            first.ack()
            deadline = time.monotonic() + 30
            while not seen >= set(TO_BE_CARRIED_OUT[1:]) and time.monotonic() < deadline:
                seen |= {delivery.decision.id for delivery in steady}
        assert seen | {"d0"} == set(TO_BE_CARRIED_OUT)
        assert self.ids(self.read(broker, group, 1)) in (["d0"], ["d1"])

    def test_acknowledged_from_another_thread(self, broker: Kafka) -> None:
        group = uuid.uuid4().hex
        with subscribe(broker.address, group, timeout=10, clock=lambda: NOW) as decisions:
            first = next(decisions)
            worker = threading.Thread(target=first.ack)
            worker.start()
            worker.join()
        assert self.ids(self.read(broker, group, 1)) == ["d1"]

    @pytest.mark.parametrize(
        ("page", "heading", "restarts"),
        [
            ("docs/index.md", "Subscribe", 3),
            ("docs/decisions.md", "A scheduler in Python", 3),
            ("docs/decisions.md", "Plain kafka-python", 5),
        ],
    )
    def test_the_documents_examples_carry_out_what_is_to_be(
        self, broker: Kafka, page: str, heading: str, restarts: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        section = (ROOT / page).read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
        example = next(block for block in blocks(section) if "import" in block)
        for old, new in (
            ("localhost:9092", broker.address),
            ("k1:9092", broker.address),
            ('group="my-scheduler"', f'group="{uuid.uuid4().hex}", timeout=2, clock=lambda: {NOW}'),
            ("enable_auto_commit=False,", "enable_auto_commit=False, consumer_timeout_ms=2000,"),
            (
                "decision = json.loads(message.value)",
                "decision = json.loads(message.value if message.offset != 3 else empty)",
            ),
            ("time.time()", str(NOW)),
        ):
            example = example.replace(old, new)
        exec(compile(example, page, "exec"), {"empty": '{"mode": "", "expires": 0}'})
        printed = capsys.readouterr().out
        assert printed.count("restart 1") == restarts
        assert printed.count("evict 1") == 1

    def test_ends_when_nothing_comes(self, broker: Kafka) -> None:
        with subscribe(broker.address, uuid.uuid4().hex, timeout=2, clock=lambda: NOW) as decisions:
            assert self.ids(list(decisions)) == TO_BE_CARRIED_OUT


def test_a_broker_that_is_not_there() -> None:
    with pytest.raises(SubscriptionError, match="expected a Kafka broker"):
        subscribe(f"127.0.0.1:{free_port()}", bootstrap_timeout_ms=500)
