import errno
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from schedmate_records import LogChunk, NodeLogChunk
from streams.producers.counters import Unsent
from streams.producers.envelope import Envelope, Source, pack
from streams.producers.shipper import Shipper
from streams.producers.spool import LOSSES, Spool, SpoolSettings, orphans
from streams.transport import Outgoing, outgoing

from .switchable import Switchable, segments, wait_for

QUICK = (0.02, 0.1)


def envelope(
    number: int, ordering_key: str = "a", size: int = 100, done: Callable[[Exception | None], None] | None = None
) -> Envelope:
    text = f"{number}".ljust(size, ".")
    record = LogChunk(job="1", producer=ordering_key, seq=number, lines=[text], time=0.0)
    return Envelope(Source("1", 0, "n1", ordering_key), outgoing(record), 1, done)


def numbers(broker: Switchable, ordering_key: str = "a") -> list[int]:
    return [chunk.seq for chunk in broker.chunks if chunk.producer == ordering_key]


@pytest.fixture
def spool(tmp_path: Path) -> SpoolSettings:
    return SpoolSettings(tmp_path / "spool", 1 << 20)


def test_chunks_arrive_in_order_and_leave_no_file(spool: SpoolSettings) -> None:
    broker = Switchable()
    shipper = Shipper(broker.connect, "p", spool=spool, backoff=QUICK)
    told: list[int] = []
    for i in range(300):
        assert shipper.offer(envelope(i, done=lambda _, i=i: told.append(i)))  # type: ignore[misc]
    assert shipper.close(10) == Unsent(0, 0)
    assert numbers(broker) == told == list(range(300))
    assert shipper.counters.acknowledged == 300
    assert not spool.root.exists() or not list(spool.root.iterdir())


def test_a_broker_that_is_away_at_the_start_gets_all_later_once_and_in_order(spool: SpoolSettings) -> None:
    broker = Switchable("away")
    shipper = Shipper(broker.connect, "p", spool=spool, memory=4000, backoff=QUICK)
    for i in range(200):
        assert shipper.offer(envelope(i))
    wait_for(lambda: shipper.counters.sends_failed >= 2)
    assert not shipper.counters.broker_up
    assert shipper.counters.spooled_bytes > 20_000
    broker.state = "up"
    for i in range(200, 250):
        assert shipper.offer(envelope(i))
    assert shipper.close(10) == Unsent(0, 0)
    assert numbers(broker) == list(range(250))
    assert list(spool.root.iterdir()) == []


@pytest.mark.parametrize("state", ["away", "refusing", "silent"])
def test_a_broker_lost_on_the_way_loses_nothing(spool: SpoolSettings, state: str) -> None:
    broker = Switchable()
    shipper = Shipper(broker.connect, "p", spool=spool, memory=4000, backoff=QUICK)
    for i in range(300):
        if i == 100:
            wait_for(lambda: shipper.idle)
            broker.state = state
        shipper.offer(envelope(i))
    wait_for(lambda: not shipper.counters.broker_up)
    broker.state = "up"
    if state == "silent":
        unsent = shipper.close(0.1)  # the client never answers: what it was given stays on disk
        assert unsent == Unsent(200, 0)
        Shipper(broker.connect, "q", adopt=spool, backoff=QUICK)
        wait_for(lambda: len(numbers(broker)) == 300)
    else:
        assert shipper.close(10) == Unsent(0, 0)
    assert numbers(broker) == list(range(300))


def test_a_later_message_never_overtakes_one_that_failed(spool: SpoolSettings) -> None:
    broker = Switchable()
    shipper = Shipper(broker.connect, "p", spool=spool, backoff=(0.001, 0.01))
    for i in range(400):
        if i % 50 == 0:
            with broker.lock:
                broker.fail_next = 3
        shipper.offer(envelope(i, ordering_key="ab"[i % 2]))
    assert shipper.close(20) == Unsent(0, 0)
    assert numbers(broker, "a") == list(range(0, 400, 2))
    assert numbers(broker, "b") == list(range(1, 400, 2))


def test_past_the_budget_lines_are_counted_and_the_count_is_sent(tmp_path: Path) -> None:
    broker = Switchable("away")
    settings = SpoolSettings(tmp_path, 10_000)
    shipper = Shipper(broker.connect, "p", spool=settings, memory=2000, backoff=QUICK, clock=lambda: 5.0)
    taken = [shipper.offer(envelope(i)) for i in range(200)]
    lost = taken.count(False)
    assert 100 < lost < 190
    assert shipper.counters.lost == lost
    broker.state = "up"
    wait_for(lambda: shipper.idle)
    assert shipper.offer(envelope(200))
    assert shipper.close(10) == Unsent(0, 0)
    assert len(numbers(broker)) == 201 - lost
    assert numbers(broker) == sorted(numbers(broker))
    assert sum(event.lines for event in broker.events) == lost
    event = broker.events[0]
    assert (event.kind, event.scheduler, event.job, event.time, event.nodes) == (
        "lines_lost",
        "producer",
        "1",
        5.0,
        ["n1"],
    )
    assert len({event.id for event in broker.events}) == len(broker.events)


@pytest.mark.parametrize("root", ["/proc/nowhere", "file"])
def test_without_a_spool_directory_lines_are_counted_not_raised(tmp_path: Path, root: str) -> None:
    (tmp_path / "file").write_text("")
    broker = Switchable("away")
    shipper = Shipper(broker.connect, "p", spool=SpoolSettings(tmp_path / root, 1 << 20), memory=2000, backoff=QUICK)
    for i in range(50):
        shipper.offer(envelope(i))
    unsent = shipper.close(0.1)
    assert unsent.kept == 0
    assert unsent.lost == 50


def test_what_stays_at_the_end_is_sent_by_the_next_one(spool: SpoolSettings) -> None:
    away, up = Switchable("away"), Switchable()
    first = Shipper(away.connect, "first", spool=spool, memory=3000, backoff=QUICK)
    for i in range(100):
        first.offer(envelope(i))
    assert first.close(0.05) == Unsent(100, 0)
    second = Shipper(up.connect, "second", spool=spool, adopt=spool, backoff=QUICK)
    second.offer(envelope(7, ordering_key="b"))
    wait_for(lambda: len(up.chunks) == 101)
    second.close(5)
    assert numbers(up, "a") == list(range(100))
    assert numbers(up, "b") == [7]
    assert list(spool.root.iterdir()) == []


def test_what_a_job_puts_into_its_spool_goes_no_further_than_its_pipe_may(spool: SpoolSettings) -> None:
    """Whoever runs a job owns its spool; a collector, which may write more than a pipe, sends what is left in it."""
    left = Spool(spool.root / "p", spool.budget)
    forged = NodeLogChunk(node="n1", lines=["NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."], time=1.0)
    left.append(pack(Envelope(Source("1"), outgoing(forged), 1)), read=False)
    left.append(pack(envelope(1)), read=False)
    left.close()
    broker = Switchable()
    collector = Shipper(broker.connect, "c", adopt=spool, backoff=QUICK, adopt_every=0.05)
    wait_for(lambda: numbers(broker) == [1])
    wait_for(lambda: list(spool.root.iterdir()) == [])
    collector.close(5)
    assert {message.topic for message in broker.written} == {"job-logs"}


def test_one_that_runs_for_long_finds_what_others_leave_meanwhile(spool: SpoolSettings) -> None:
    away, up = Switchable("away"), Switchable()
    running = Shipper(up.connect, "running", spool=spool, adopt=spool, backoff=QUICK, adopt_every=0.1)
    running.offer(envelope(0, ordering_key="b"))
    wait_for(lambda: running.idle)
    for round_ in range(2):
        ended = Shipper(away.connect, f"ended {round_}", spool=spool, backoff=QUICK)
        ended.offer(envelope(round_))
        assert ended.close(0.0) == Unsent(1, 0)
        wait_for(lambda: numbers(up, "a") == list(range(round_ + 1)))  # noqa: B023
    running.close(5)
    assert list(spool.root.iterdir()) == []


def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the disk has no room for another byte; what is there can be written over."""

    def no_room(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", no_room)
    monkeypatch.setattr(os, "posix_fallocate", no_room)


def test_on_a_full_disk_the_count_of_what_is_lost_is_kept(
    spool: SpoolSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    away, up = Switchable("away"), Switchable()
    first = Shipper(away.connect, "first", spool=spool, memory=3000, backoff=QUICK)
    assert first.offer(envelope(0))
    wait_for(lambda: first.away)
    with monkeypatch.context() as patch:
        full(patch)
        for i in range(1, 50):
            first.offer(envelope(i))
        assert first.close(0.05) == Unsent(1, 49)
    second = Shipper(up.connect, "second", adopt=spool, backoff=QUICK)
    wait_for(lambda: up.events and not list(spool.root.iterdir()))
    second.close(5)
    assert [event.lines for event in up.events] == [49]
    assert numbers(up) == [0]


def test_a_count_survives_the_process_and_is_told_once(spool: SpoolSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a killed process leaves it: never closed, its lock gone, whatever was told already."""
    broker = Switchable()
    first = Shipper(broker.connect, "first", spool=spool, memory=3000, backoff=QUICK)
    first.lose(Source("1", node="n1", ordering_key="a"), 7)
    (left,) = (path for path in spool.root.glob("first/*") if path.name == LOSSES)
    before = left.read_bytes()
    assert first.offer(envelope(0))
    wait_for(lambda: broker.events)
    wait_for(lambda: left.read_bytes() != before)
    first.close(5)
    assert not list(spool.root.iterdir())
    crashed = spool.root / "crashed"
    crashed.mkdir(parents=True)
    (crashed / "lock").touch()
    (crashed / LOSSES).write_bytes(before)
    second = Shipper(broker.connect, "second", adopt=spool, backoff=QUICK)
    wait_for(lambda: not list(spool.root.iterdir()))
    second.close(5)
    assert {event.lines for event in broker.events} == {7}
    # A spool with room taken and nothing lost is nothing.
    crashed.mkdir()
    (crashed / "lock").touch()
    (crashed / LOSSES).write_bytes(bytes(len(before)))
    assert list(orphans(spool.root, 1 << 20)) == []
    assert not crashed.exists()


def test_a_spool_speaks_for_nothing_but_jobs(spool: SpoolSettings) -> None:
    """Whoever may write a spool may write anything into it; the one who sends it may have more rights."""
    for topic in ("decisions", "node-logs", "job-logs"):
        with Spool(spool.root / topic, 1 << 20) as left:
            left.append(pack(Envelope(Source("1"), Outgoing(topic, b"1", b"{}"), 1)))
    (spool.root / "torn").mkdir()
    (spool.root / "torn" / "lock").touch()
    (spool.root / "torn" / "1.segment").write_bytes(b"torn")
    broker = Switchable()
    shipper = Shipper(broker.connect, "p", adopt=spool, backoff=QUICK)
    wait_for(lambda: not list(spool.root.iterdir()))
    shipper.close(5)
    assert [message.topic for message in broker.written] == ["job-logs"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to other users")
def test_what_another_user_left_is_not_sent(spool: SpoolSettings) -> None:
    with Spool(spool.root / "theirs", 1 << 20) as left:
        left.append(pack(envelope(1)))
    os.chown(spool.root / "theirs" / "lock", 4001, 4001)
    assert list(orphans(spool.root, 1 << 20)) == []


def test_a_loss_that_could_not_be_told_is_told_by_the_next_one(tmp_path: Path) -> None:
    settings = SpoolSettings(tmp_path, 5000)
    away, up = Switchable("away"), Switchable()
    first = Shipper(away.connect, "first", spool=settings, memory=1000, backoff=QUICK)
    for i in range(100):
        first.offer(envelope(i))
    unsent = first.close(0.05)
    assert unsent.kept + unsent.lost == 100
    assert unsent.lost > 0
    second = Shipper(up.connect, "second", adopt=settings, backoff=QUICK)
    wait_for(lambda: up.events)
    second.close(5)
    assert sum(event.lines for event in up.events) == unsent.lost
    assert len(numbers(up)) == unsent.kept


def test_without_a_spool_the_source_waits(tmp_path: Path) -> None:
    broker = Switchable("silent")
    shipper = Shipper(broker.connect, "p", memory=3000, backoff=QUICK)
    taken = [shipper.offer(envelope(i)) for i in range(20)]
    assert taken == sorted(taken, reverse=True)
    assert 0 < taken.count(True) < 20
    assert shipper.counters.lost == 0
    shipper.close(0)


def test_close_is_bounded_and_so_is_offer(spool: SpoolSettings) -> None:
    class Hanging:
        def __call__(self) -> "Hanging":
            time.sleep(30)
            return self

    shipper = Shipper(Hanging(), "p", spool=spool, memory=2000, backoff=QUICK)  # type: ignore[arg-type]
    started = time.monotonic()
    for i in range(100):
        shipper.offer(envelope(i))
    assert shipper.close(0.2) == Unsent(100, 0)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_every_line_arrives_in_order_or_is_counted(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    broker = Switchable(rng.choice(["up", "away", "refusing"]))
    settings = SpoolSettings(tmp_path, rng.choice([8_000, 40_000, 1 << 20]))
    sent = 0
    for run in range(3):
        memory = rng.choice([1_500, 6_000, 100_000])
        shipper = Shipper(
            broker.connect, f"p{run}", spool=settings, adopt=settings, memory=memory, backoff=(0.002, 0.02)
        )
        for _ in range(rng.randrange(150)):
            shipper.offer(envelope(sent, ordering_key=f"{run}{rng.choice('ab')}"))
            sent += 1
            if rng.random() < 0.05:
                broker.state = rng.choice(["up", "away", "refusing"])
            if rng.random() < 0.05:
                with broker.lock:
                    broker.fail_next = rng.randrange(5)
            if rng.random() < 0.2:
                time.sleep(0.002)
        shipper.close(0.02)
    broker.state, broker.fail_next = "up", 0
    last = Shipper(broker.connect, "last", adopt=settings, backoff=QUICK, adopt_every=0.05)
    wait_for(lambda: not segments(tmp_path))
    last.close(5)
    highest: dict[str, int] = {}
    arrived = set()
    for chunk in broker.chunks:
        # A segment that was sent in part is sent again: a repeat is harmless, a number that was overtaken would not be.
        assert chunk.seq in arrived or chunk.seq > highest.get(chunk.producer, -1)
        highest[chunk.producer] = max(chunk.seq, highest.get(chunk.producer, -1))
        arrived.add(chunk.seq)
    lost = {event.id: event.lines for event in broker.events}
    assert len(arrived) + sum(lost.values()) == sent


def test_perishable_records_give_way_oldest_first_and_are_counted() -> None:
    broker = Switchable("away")
    shipper = Shipper(broker.connect, "p", memory=5 * envelope(0).size + 50, perishable=True, backoff=QUICK)
    for i in range(12):
        assert shipper.offer(envelope(i, ordering_key="ab"[i % 2]))
    assert (shipper.counters.waiting, shipper.counters.lost) == (5, 7)
    broker.state = "up"
    wait_for(lambda: shipper.counters.acknowledged == 5)
    assert sorted(chunk.seq for chunk in broker.chunks) == [7, 8, 9, 10, 11]
    assert (numbers(broker, "a"), numbers(broker, "b")) == ([8, 10], [7, 9, 11])
    assert shipper.close(5) == Unsent(0, 0)
    assert (shipper.counters.waiting, shipper.counters.lost) == (0, 7)


def test_perishable_records_under_way_are_not_given_up() -> None:
    broker = Switchable("silent")
    shipper = Shipper(broker.connect, "p", memory=3 * envelope(0).size + 50, perishable=True, backoff=QUICK)
    assert shipper.offer(envelope(0))
    wait_for(lambda: broker.sends == 1)
    for i in range(1, 9):
        assert shipper.offer(envelope(i))
    assert (shipper.counters.waiting, shipper.counters.lost) == (3, 6)
    assert shipper.close(0) == Unsent(0, 3)


def test_what_is_refused_for_good_is_counted_and_the_rest_goes_on(spool: SpoolSettings) -> None:
    broker = Switchable()
    broker.never = {3, 4}
    shipper = Shipper(broker.connect, "p", spool=spool, backoff=QUICK)
    told: list[tuple[int, str]] = []
    for i in range(8):
        shipper.offer(envelope(i, done=lambda refused, i=i: told.append((i, str(refused or "")))))  # type: ignore[misc]
    assert shipper.close(10) == Unsent(0, 0)
    assert numbers(broker) == [0, 1, 2, 5, 6, 7]
    assert [number for number, refused in told if refused] == [3, 4]
    assert (shipper.refused, shipper.refusal, shipper.counters.lost) == (2, "never", 2)
    assert broker.connections == 1
