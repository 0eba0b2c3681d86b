"""`/dev/kmsg`: the real one where it can be read, and one of our own that gives a record a read."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.node import NodeProcessor
from schedmate_records import NodeFinding, NodeLogChunk, Position, check, decode
from streams.memory import MemoryBroker
from streams.producers.collector import Collector
from streams.producers.collector_settings import CollectorSettings
from streams.producers.kernel_log import KernelLog
from tests.metric_values import value

from .switchable import wait_for

KMSG = Path("/dev/kmsg")
Opened = tuple[KernelLog, Callable[[bytes], int]]


def readable() -> bool:
    try:
        os.close(os.open(KMSG, os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


@pytest.fixture
def kernel() -> Iterator[Opened]:
    reading, writing = os.pipe2(os.O_DIRECT | os.O_NONBLOCK)  # a write is a record, as in /dev/kmsg
    log = KernelLog(reading, "n1", clock=lambda: 10_000.0, monotonic=lambda: 1_000.0, boot="b00t5678-x")
    yield log, lambda record: os.write(writing, record)
    log.close()
    os.close(writing)


def test_records_become_numbered_lines_with_their_own_times(kernel: Opened) -> None:
    log, say = kernel
    say(b"6,41,500000000,-;usb 1-1: new device\n SUBSYSTEM=usb\n")
    say(b"3,42,500250000,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1\n")
    say(b"4,45,501000000,c;a \\x5cbackslash, \\xc3\\xbc and a \\x0anewline\n")
    assert log.read() == 3
    first, second = log.ready
    assert (first.node, first.producer, first.source) == ("n1", "n1-kmsg-b00t5678", "kernel")
    assert (first.first_line, first.first_piece, first.time, first.after_ms) == (42, 42, 9500.0, [0, 250])
    assert first.lines == ["usb 1-1: new device", "NVRM: Xid (PCI:0000:3b:00): 79, pid=1"]
    assert (second.first_piece, second.lines) == (46, ["a \\backslash, ü and a \\x0anewline"])
    assert log.read() == 0


def test_times_follow_a_clock_that_is_set_after_the_start() -> None:
    reading, writing = os.pipe2(os.O_DIRECT | os.O_NONBLOCK)
    now = 5.0
    log = KernelLog(reading, "n1", clock=lambda: now, monotonic=lambda: 2.0, boot="b")
    for by in (0.0, 1.8e9):
        now = 5.0 + by
        os.write(writing, b"3,42,1000000,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1\n")
        log.read()
    log.close()
    os.close(writing)
    assert [chunk.time for chunk in log.ready] == [4.0, 1.8e9 + 4.0]


def test_lines_of_weeks_are_no_chunk_that_is_refused(kernel: Opened) -> None:
    """The kernel holds what it said at its start, a month ago, right before what it says now; and its processors' clocks differ."""
    log, say = kernel
    say(b"6,41,500000000,-;usb 1-1: new device\n")
    say(b"6,42,%d,-;late\n" % (500_000_000 + 30 * 86_400_000_000))
    say(b"6,43,%d,-;earlier\n" % (500_000_000 + 30 * 86_400_000_000 - 2000))
    log.read()
    for chunk in log.ready:
        check(chunk)
    assert [(chunk.first_piece, chunk.lines, chunk.after_ms) for chunk in log.ready] == [
        (42, ["usb 1-1: new device"], [0]),
        (43, ["late", "earlier"], [0, 0]),
    ]


def test_a_collector_that_starts_again_repeats_lines_under_their_numbers(kernel: Opened) -> None:
    log, say = kernel
    record = b"3,42,500250000,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1\n"
    say(record)
    say(b"6,43,500300000,-;usb 1-1: new device\n")
    log.read()
    say(record)
    log.read()
    processor = NodeProcessor()
    state = processor.fresh("n1")
    made = [
        one
        for offset, chunk in enumerate(log.ready)
        for one in processor.process(state, Position("node-logs", 0, offset), chunk)
    ]
    assert len(made) == 1
    assert isinstance(made[0], NodeFinding)
    assert (made[0].time, made[0].place.line, state.findings[0].times) == (9500.25, 43, 1)


@given(st.binary(max_size=200))
def test_any_record_is_read(record: bytes) -> None:
    reading, writing = os.pipe2(os.O_DIRECT | os.O_NONBLOCK)
    log = KernelLog(reading, "n1", boot="b")
    if record:
        os.write(writing, record)
    os.write(writing, b"6,1,1,-;after\n")
    log.read()
    assert log.ready[-1].lines[-1] == "after"
    log.close()
    os.close(writing)


@pytest.mark.skipif(not readable(), reason="/dev/kmsg cannot be read here")
def test_the_collector_reads_the_kernels_own_log(tmp_path: Path) -> None:
    def shipped() -> list[tuple[int, str]]:
        broker = MemoryBroker()
        how = CollectorSettings(
            globs=[], pattern="(?P<job>x)", node_globs=[str(KMSG)], node="n1", checkpoint=tmp_path / "state"
        )
        collector = Collector(how, broker.producer)
        while collector.step():
            pass
        collector.step()
        assert value(collector.metrics.files) == 1
        wait_for(lambda: collector.shipper.idle)
        collector.close()
        chunks = [decode(NodeLogChunk, message.value) for message in broker.read("node-logs")]
        return [(chunk.first_piece + index, line) for chunk in chunks for index, line in enumerate(chunk.lines)]

    first = shipped()
    assert first
    assert [number for number, _ in first] == sorted({number for number, _ in first})
    assert set(first) & set(shipped()), "read again, lines have the same numbers"
