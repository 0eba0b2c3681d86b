"""Whoever may connect to the collector's socket: honest pipes, and strangers."""

import concurrent.futures
import os
import socket
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from schedmate_records import EventKind, JobEvent, LogChunk, NodeLogChunk
from streams.producer import Outgoing, Refused
from streams.producers import pipe_intake
from streams.producers.collector_connection import ANSWER, TAKEN, CollectorAway, CollectorConnection
from streams.producers.envelope import Envelope, Source, pack
from streams.producers.file_trust import FileTrust
from streams.producers.job_owners import Unasked
from streams.producers.pipe_intake import PipeIntake, SocketInUse
from streams.producers.shipper import Shipper
from streams.producers.spool import framed
from streams.transport import outgoing
from tests.metric_values import value

from .switchable import Switchable, wait_for

QUICK = (0.02, 0.1)


class Collector:
    """An intake and a shipper over a broker that a test switches."""

    def __init__(self, path: Path, trust: FileTrust, memory: int = 8 << 20) -> None:
        self.path = path
        self.broker = Switchable()
        self.shipper = Shipper(self.broker.connect, "c", memory=memory, backoff=QUICK)
        self.intake = PipeIntake(path, trust, self.shipper.offer)

    def connect(self) -> CollectorConnection:
        return CollectorConnection(str(self.path))

    def close(self) -> None:
        self.intake.close()
        self.shipper.close(1)


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    collector = Collector(tmp_path / "c.sock", FileTrust(frozenset({os.geteuid()})))
    yield collector
    collector.close()


def chunk(number: int, job: str = "1", size: int = 10, producer: str = "p") -> Outgoing:
    return outgoing(
        LogChunk(job=job, producer=producer, seq=number, first_piece=number + 1, lines=["x" * size], time=0.0)
    )


def ended(**fields: object) -> JobEvent:
    """An event that a pipe of job 1 writes, but for `fields`."""
    honest = {"id": "pipe/1/0/ended/p", "job": "1", "kind": EventKind.ENDED, "time": 1.0, "scheduler": "pipe"}
    return JobEvent(**{**honest, **fields})  # type: ignore[arg-type]


def test_each_message_is_answered_once_the_broker_has_it(collector: Collector) -> None:
    connection = collector.connect()
    for number in range(200):
        connection.send(chunk(number)).result(20)
    collector.broker.state = "silent"
    late = connection.send(chunk(200))
    wait_for(lambda: collector.broker.sends == 201)
    assert not late.done()
    connection.close()
    assert isinstance(late.exception(5), CollectorAway)
    assert [each.seq for each in collector.broker.chunks] == list(range(200))
    assert value(collector.intake.metrics.entries) == 200


def test_a_pipe_that_connects_again_stays_in_order(collector: Collector) -> None:
    """What its old connection left under way is written before what it sends again."""
    collector.broker.state = "away"
    old = collector.connect()
    old.send(chunk(0))
    wait_for(lambda: collector.shipper.counters.waiting == 1)
    old.close()
    new = collector.connect()
    again = new.send(chunk(0))
    wait_for(lambda: collector.shipper.counters.waiting == 2)
    collector.broker.state = "up"
    again.result(20)
    new.send(chunk(1)).result(20)
    assert [each.seq for each in collector.broker.chunks] == [0, 0, 1]
    new.close()


@pytest.mark.parametrize(
    ("forged", "said"),
    [
        (outgoing(NodeLogChunk(node="1", lines=["Xid 79"], time=1.0)), "a message that a pipe may write"),
        (Outgoing("decisions", b"1", b"{}"), "a message that a pipe may write"),
        (chunk(0, job="2")._replace(key=b"1"), "expected a record of job '1', got one of '2'"),
        (Outgoing("job-logs", b"1", b"no record"), "expected a LogChunk"),
        (Outgoing("job-logs", b"1", b'{"a":' * 2000), "expected a LogChunk"),
        (
            outgoing(JobEvent(id="x", job="1", kind=EventKind.REQUEUED, time=1.0, scheduler="slurm"))._replace(
                topic="pipe-events"
            ),
            "got requeued of 'slurm'",
        ),
        (outgoing(LogChunk(job="1", attempt=2**31, lines=["x"], time=0.0)), "from 0 to 1000000 in attempt"),
        (outgoing(LogChunk(job="1", rank=-1, lines=["x"], time=0.0)), "from 0 to 1000000 in rank, got -1"),
        (outgoing(LogChunk(job="1\x1b[2J", lines=["x"], time=0.0)), "printable characters in job"),
        (outgoing(LogChunk(job="j" * 300, lines=["x"], time=0.0)), "at most 256 printable characters in job"),
        (outgoing(LogChunk(job="1", node="n\n1", lines=["x"], time=0.0)), "printable characters in node"),
        (outgoing(LogChunk(job="1", producer="p" * 300, lines=["x"], time=0.0)), "printable characters in producer"),
        (outgoing(LogChunk(job="1", first_piece=-5, lines=["x"], time=0.0)), "in first_piece, got -5"),
        (outgoing(LogChunk(job="1", lines=["x"], time=1e18)), "up to the year 2100, in time"),
        (outgoing(LogChunk(job="1", lines=["x"], time=0.0, after_ms=[-1])), "in after_ms, got -1"),
        (outgoing(ended(attempt=2**31, id=f"pipe/1/{2**31}/ended/p")), "from 0 to 1000000 in attempt"),
        (outgoing(ended(exit_code=2**70)), "expected whole numbers of 64 bits"),
        (outgoing(ended(id="slurm/1/0/ended/p")), "expected an id that begins with pipe/1/0/ended/"),
    ],
)
def test_what_no_pipe_of_this_job_writes_is_refused(collector: Collector, forged: Outgoing, said: str) -> None:
    connection = collector.connect()
    with pytest.raises(Refused, match=said):
        connection.send(forged).result(20)
    connection.send(chunk(0)).result(20)
    assert {message.topic for message in collector.broker.written} == {"job-logs"}
    assert value(collector.intake.metrics.refused) == 1
    connection.close()


def test_numbers_beside_the_record_are_taken_from_the_record(collector: Collector) -> None:
    """What a client states in the envelope alone is counted nowhere."""
    collector.broker.never = {0}
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(collector.path))
        client.sendall(framed(pack(Envelope(Source("1", -(2**70), "n\x1b"), chunk(0), -(10**9)))))
        wait_for(lambda: value(collector.intake.metrics.refused))
    assert collector.shipper.counters.lost == 1


def test_bytes_that_are_no_entries_end_their_connection_alone(collector: Collector) -> None:
    honest = collector.connect()
    for noise in (b"GET / HTTP/1.1\r\n\r\n", struct.pack("<II", 1 << 30, 0), framed(b"x")[:-1] + b"y"):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(collector.path))
            stranger.sendall(noise)
            stranger.settimeout(20)
            assert stranger.recv(1) == b""
    honest.send(chunk(0)).result(20)
    assert value(collector.intake.metrics.turned_away) == 3
    honest.close()


def test_a_client_that_reads_no_answers_holds_up_nobody(collector: Collector) -> None:
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.connect(str(collector.path))
        deaf.setblocking(False)
        entry = framed(pack(Envelope(Source("1"), chunk(0, size=5), 1)))
        sent = 0
        while sent < 4 << 20:
            try:
                sent += deaf.send(entry * 100)
            except BlockingIOError:
                break
        honest = collector.connect()
        honest.send(chunk(7, producer="honest")).result(20)
        honest.close()
    wait_for(lambda: not collector.intake.connected)


def test_a_flood_of_what_is_refused_takes_neither_memory_nor_turns(collector: Collector) -> None:
    """Each refusal is answered: whoever reads no answers gets so many, and nobody waits until all of a flood is refused."""
    with socket.socket(socket.AF_UNIX) as deaf, capture_logs() as logged:
        deaf.connect(str(collector.path))
        deaf.settimeout(1)
        honest = collector.connect()
        with suppress(TimeoutError):
            deaf.sendall(framed(b"x") * 400_000)
            pytest.fail("all of it was taken")
        honest.send(chunk(0)).result(20)
        assert value(collector.intake.metrics.refused) < 50_000
        assert len([each for each in logged if each["event"] == "pipe_refused"]) == 1
        honest.close()


def test_a_full_shipper_makes_pipes_wait_and_loses_nothing(tmp_path: Path) -> None:
    collector = Collector(tmp_path / "c.sock", FileTrust(frozenset({os.geteuid()})), memory=8_000)
    collector.broker.state = "away"
    connection = collector.connect()
    futures = [connection.send(chunk(number, size=1000, producer=f"p{number}")) for number in range(20)]
    wait_for(lambda: collector.intake.held_back)
    assert collector.shipper.counters.waiting < 10
    collector.broker.state = "up"
    for future in futures:
        future.result(30)
    assert sorted(each.seq for each in collector.broker.chunks) == list(range(20))
    connection.close()
    collector.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_kernel_says_who_writes(tmp_path: Path) -> None:
    owner: list[int | str | None] = [Unasked("slurmctld is down")]
    tmp_path.chmod(0o777)
    for folder in tmp_path.parents:
        if len(folder.parts) > 2:
            folder.chmod(folder.stat().st_mode | 0o011)
    collector = Collector(tmp_path / "c.sock", FileTrust(owner_of=lambda job: owner[0]))
    told_out, told_in = os.pipe()
    go_out, go_in = os.pipe()
    if (child := os.fork()) == 0:
        os.setresuid(4001, 4001, 4001)
        with socket.socket(socket.AF_UNIX) as theirs:
            theirs.connect(str(collector.path))
            theirs.sendall(framed(pack(Envelope(Source("1"), chunk(0), 1))))
            os.write(told_in, theirs.recv(4096))
            os.read(go_out, 1)
            theirs.sendall(framed(pack(Envelope(Source("1"), chunk(1), 1))))
            os.write(told_in, theirs.recv(4096))
        os._exit(0)
    wait_for(lambda: collector.intake.held_back)
    assert collector.broker.written == []
    owner[0] = 4001
    assert os.read(told_out, 4096) == ANSWER.pack(0, TAKEN, 0)
    owner[0] = 4002
    os.write(go_in, b"x")
    number, _, size = ANSWER.unpack_from(answer := os.read(told_out, 4096))
    assert (number, len(answer) - ANSWER.size) == (1, size)
    assert b"expected a pipe of user 4002, the owner of job 1, got one of user 4001" in answer
    os.waitpid(child, 0)
    assert [each.seq for each in collector.broker.chunks] == [0]
    collector.close()
    for descriptor in (told_in, told_out, go_in, go_out):
        os.close(descriptor)


def test_one_user_has_so_many_connections(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe_intake, "CLIENTS_PER_USER", 3)
    pipes = [collector.connect() for _ in range(3)]
    for pipe in pipes:
        pipe.send(chunk(0)).result(20)
    with socket.socket(socket.AF_UNIX) as fourth:
        fourth.connect(str(collector.path))
        fourth.settimeout(20)
        assert fourth.recv(1) == b""
    pipes.pop().close()
    wait_for(lambda: collector.intake.connected == 2)
    pipes.append(collector.connect())
    pipes[-1].send(chunk(1)).result(20)
    for pipe in pipes:
        pipe.close()


def test_a_pipe_waits_for_its_place_in_a_crowd(tmp_path: Path) -> None:
    """Where others connect again and again, the queue is always full."""
    with (
        socket.socket(socket.AF_UNIX) as listener,
        socket.socket(socket.AF_UNIX) as first,
        ThreadPoolExecutor(1) as aside,
    ):
        listener.bind(str(tmp_path / "s"))
        listener.listen(0)
        listener.settimeout(20)
        first.connect(str(tmp_path / "s"))
        pipe = aside.submit(CollectorConnection, str(tmp_path / "s"))
        with suppress(concurrent.futures.TimeoutError):
            pipe.result(0.1)
        listener.accept()[0].close()
        listener.accept()[0].close()
        pipe.result(20).close()


def test_a_socket_left_behind_is_taken_over_and_one_in_use_is_not(collector: Collector, tmp_path: Path) -> None:
    with pytest.raises(SocketInUse, match="another collector"):
        PipeIntake(collector.path, FileTrust(), collector.shipper.offer)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "left.sock"))
    PipeIntake(tmp_path / "left.sock", FileTrust(), collector.shipper.offer).close()
    (tmp_path / "file").write_text("")
    with pytest.raises(SocketInUse, match="got something else"):
        PipeIntake(tmp_path / "file", FileTrust(), collector.shipper.offer)
    assert not (tmp_path / "left.sock").exists()


def test_many_pipes_at_once(collector: Collector) -> None:
    def pipe(number: int) -> None:
        connection = collector.connect()
        for each in range(50):
            connection.send(chunk(each, producer=f"p{number}")).result(30)
        connection.close()

    threads = [threading.Thread(target=pipe, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(20):
        assert [each.seq for each in collector.broker.chunks if each.producer == f"p{number}"] == list(range(50))
