"""The pump: what cannot be read or dealt with is put aside, whatever is raised."""

from collections.abc import Sequence
from concurrent.futures import Future
from threading import Event, Thread

import pytest

from schedmate_records import DeadLetter, JobEvent, Position, Record, UserError, decode
from streams.memory import MemoryBroker, MemoryProducer
from streams.runtimes.pump import Pump
from streams.transport import BrokerUnavailable, Outgoing

NESTED = b'{"a":' * 1200 + b"1" + b"}" * 1200
EVENT = b'{"id":"%s","job":"j","kind":"ended","time":1.0}'


def pumped(values: Sequence[bytes], fails: Sequence[str] = ()) -> tuple[list[str], list[DeadLetter]]:
    broker, taken = MemoryBroker(partitions=1), list[str]()

    def handle(batch: Sequence[tuple[Position, Record]]) -> None:
        ids = [record.id for _, record in batch if isinstance(record, JobEvent)]
        if set(ids) & set(fails):
            raise OverflowError("no column is that wide")
        taken.extend(ids)

    for value in values:
        broker.append(Outgoing("job-events", b"j", value))
    pump = Pump(broker.consumer("g", ["job-events"]), broker.producer(), handle, rows=100, seconds=0.01)
    assert pump.step() == len(values)
    return taken, [decode(DeadLetter, message.value) for message in broker.read("dead-letters")]


def test_nested_values_become_dead_letters() -> None:
    taken, letters = pumped([EVENT % b"1", NESTED, b'{"id":"2","job":' + NESTED, EVENT % b"3"])
    assert taken == ["1", "3"]
    assert [(letter.offset, letter.stage) for letter in letters] == [(1, "decode"), (2, "decode")]


def test_only_the_record_that_fails_is_put_aside() -> None:
    taken, letters = pumped([EVENT % b"%d" % number for number in range(9)], fails=["4", "7"])
    assert sorted(taken) == ["0", "1", "2", "3", "5", "6", "8"]
    assert [(letter.offset, letter.stage) for letter in letters] == [(4, "process"), (7, "process")]


def test_an_error_that_explains_itself_ends_the_pump() -> None:
    broker = MemoryBroker(partitions=1)
    broker.append(Outgoing("job-events", b"j", EVENT % b"1"))

    def handle(batch: Sequence[tuple[Position, Record]]) -> None:
        raise UserError("the tables are missing")

    with pytest.raises(UserError, match="missing"):
        Pump(broker.consumer("g", ["job-events"]), broker.producer(), handle, seconds=0.01).step()
    assert broker.read("dead-letters") == []


def test_a_commit_that_the_broker_did_not_take_is_made_though_no_more_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.runtimes.pump.COMMIT_AGAIN_S", 0.0)
    broker = MemoryBroker(partitions=1)
    broker.append(Outgoing("job-events", b"j", EVENT % b"1"))
    consumer = broker.consumer("g", ["job-events"])
    commit, refusals = consumer.commit, iter([False, False])
    monkeypatch.setattr(consumer, "commit", lambda: next(refusals, None) is None and commit())
    pump = Pump(consumer, broker.producer(), lambda _: None, seconds=0.01)
    assert [pump.step() for _ in range(2)] == [1, 0]
    assert not broker.committed
    pump.step()
    assert set(broker.committed.values()) == {1}
    broker.committed.clear()
    pump.step()
    assert not broker.committed, "once is enough"


class AwayForAWhile(MemoryProducer):
    tries = 3

    def send(self, message: Outgoing) -> "Future[None]":
        self.tries -= 1
        if self.tries > 0:
            gone: Future[None] = Future()
            gone.set_exception(BrokerUnavailable("60146 ms have passed since batch creation"))
            return gone
        return super().send(message)


def test_a_dead_letter_waits_for_its_broker() -> None:
    broker = MemoryBroker(partitions=1)
    broker.append(Outgoing("job-events", b"j", NESTED))
    pump = Pump(broker.consumer("g", ["job-events"]), AwayForAWhile(broker), lambda _: None, seconds=0.01)
    assert pump.step() == 1
    assert len(broker.read("dead-letters")) == 1


def test_a_pump_that_is_stopped_while_its_broker_is_away_ends_in_order_and_commits_nothing() -> None:
    broker, stop = MemoryBroker(partitions=1), Event()
    broker.append(Outgoing("job-events", b"j", NESTED))
    producer = AwayForAWhile(broker)
    producer.tries = 10**9
    pump = Pump(broker.consumer("g", ["job-events"]), producer, lambda _: None, seconds=0.01)
    running = Thread(target=pump.run, args=(stop,))
    running.start()
    while producer.tries > 10**9 - 2:
        running.join(0.01)
        assert running.is_alive()
    stop.set()
    running.join(30)
    assert not running.is_alive()
    assert len(broker.consumer("g", ["job-events"]).poll(1.0)) == 1


@pytest.mark.parametrize("size", [1000, 5 << 20, 30 << 20])
def test_a_dead_letter_always_fits(size: int) -> None:
    _, (letter,) = pumped([b"\xff" * size])
    assert letter.size == size
    assert letter.truncated == (size > 4 << 20)
    assert len(letter.value) == (1 << 20 if letter.truncated else size)
