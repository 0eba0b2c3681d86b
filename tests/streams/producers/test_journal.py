"""systemd's journal. No journal runs where tests do: a program that writes what `journalctl` writes stands for it."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schedmate_records import NodeLogChunk, check, decode
from streams.memory import MemoryBroker
from streams.producers import journal
from streams.producers.collector import Collector
from streams.producers.collector_settings import CollectorSettings
from streams.producers.journal import PLACEHOLDER, SystemJournal
from streams.producers.pieces import LIMIT
from tests.metric_values import value

from .switchable import wait_for

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1"
WRITER = (
    "import sys, time; sys.stdout.write(open(sys.argv[1]).read()); sys.stdout.flush(); time.sleep(float(sys.argv[2]))"
)


def entry(message: object, at: float = 9500.0, speaker: object = "kernel") -> str:
    return json.dumps({"__REALTIME_TIMESTAMP": str(int(at * 1e6)), "MESSAGE": message, "SYSLOG_IDENTIFIER": speaker})


Follow = Callable[..., SystemJournal]


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Follow]:
    opened: list[SystemJournal] = []

    def start(*entries: str, lasts: float = 60.0, **more: Any) -> SystemJournal:
        (tmp_path / "entries").write_text("".join(one + "\n" for one in entries))
        command = [sys.executable, "-c", WRITER, str(tmp_path / "entries"), str(lasts)]
        opened.append(SystemJournal("n1", clock=lambda: 10_000.0, command=command, **more))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def read(log: SystemJournal, lines: int) -> list[tuple[int, float, str]]:
    """Read until there are so many lines: number, time, text."""
    found: list[tuple[int, float, str]] = []
    deadline = time.monotonic() + 20
    while len(found) < lines and time.monotonic() < deadline:
        log.read()
        while log.ready:
            chunk = log.ready.popleft()
            times = [chunk.time + after / 1000 for after in chunk.after_ms or [0] * len(chunk.lines)]
            found += zip(range(chunk.first_piece, chunk.first_piece + len(times)), times, chunk.lines, strict=True)
    return found


def test_entries_become_numbered_lines_with_their_own_times(follow: Follow) -> None:
    odd = [
        entry([255, 88]),
        entry(["one", [255, 89]]),
        json.dumps({"__REALTIME_TIMESTAMP": "9500000000", "SYSLOG_IDENTIFIER": "no message"}),
        entry("two\nlines", 9501.5, "slurmd"),
    ]
    found = read(follow(entry(XID), *odd), 6)
    assert found == [
        (1, 9500.0, f"kernel: {XID}"),
        (2, 9500.0, "kernel: \\xffX"),
        (3, 9500.0, "kernel: one"),
        (4, 9500.0, "kernel: \\xffY"),
        (5, 9501.5, "slurmd: two"),
        (6, 9501.5, "slurmd: lines"),
    ]


@pytest.mark.parametrize(
    ("unreadable", "at", "text"),
    [
        (entry(None, 9600.0), 9600.0, f"kernel: {PLACEHOLDER}"),
        (entry("x", speaker=[300]), 10_000.0, PLACEHOLDER),
        (entry("x" * (journal.LONGEST + 10)), 10_000.0, PLACEHOLDER),
        ("no entry", 10_000.0, PLACEHOLDER),
        ("{}", 10_000.0, PLACEHOLDER),
    ],
    ids=["null", "bytes that are none", "too long", "text", "no time"],
)
def test_a_placeholder_replaces_an_entry_that_cannot_be_read(
    follow: Follow, unreadable: str, at: float, text: str
) -> None:
    counted: list[int] = []
    log = follow(entry(XID), unreadable, entry("after", 10_000.0), unreadable=lambda: counted.append(1))
    assert read(log, 3) == [(1, 9500.0, f"kernel: {XID}"), (2, at, text), (3, 10_000.0, "kernel: after")]
    assert len(counted) == 1


def test_a_long_message_is_read_whole_and_fits_into_chunks(follow: Follow) -> None:
    """`journalctl` without `--all` has null in place of more than 4 kB."""
    assert "--all" in journal.COMMAND
    log = follow(entry("start " + "x" * 200_000 + " end"), entry("after"))
    found = read(log, 8)
    assert [number for number, _, _ in found] == list(range(1, len(found) + 1))
    assert "".join(text for _, _, text in found[:-1]) == "kernel: start " + "x" * 200_000 + " end"
    assert found[-1][2] == "kernel: after"
    assert all(len(text) <= LIMIT for _, _, text in found)


def test_a_clock_that_is_set_begins_a_new_chunk(follow: Follow) -> None:
    """A host whose clock has no battery starts in 1970: lines of before and after would be refused together."""
    log = follow(entry("one", 5.0), entry("two", 1.8e9), entry("three", 1.8e9 + 1), entry("four", 1.7e9))
    deadline = time.monotonic() + 20
    while len(log.ready) < 3 and time.monotonic() < deadline:
        log.read()
    for chunk in log.ready:
        check(chunk)
    assert [(chunk.time, chunk.first_piece, len(chunk.lines)) for chunk in log.ready] == [
        (5.0, 1, 1),
        (1.8e9, 2, 2),
        (1.7e9, 4, 1),
    ]


def test_a_program_that_ends_is_started_again_but_not_at_once(follow: Follow, monkeypatch: pytest.MonkeyPatch) -> None:
    now, started, start = 0.0, [], subprocess.Popen

    def noted(*arguments: Any, **named: Any) -> subprocess.Popen[bytes]:
        started.append(start(*arguments, **named))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    log = follow(entry("one"), lasts=0.0, monotonic=lambda: now)
    assert len(read(log, 1)) == 1
    deadline = time.monotonic() + 20
    while not started[0].stdout.closed and time.monotonic() < deadline:
        log.read()
    assert log.read() == 0
    assert len(started) == 1
    now = journal.AGAIN_S + 1
    assert read(log, 1) == [(2, 9500.0, "kernel: one")], "numbers go on"


def test_the_collector_follows_the_journal_of_this_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "journalctl"
    program.write_text(
        f"#!{sys.executable}\nimport sys, time\nassert '--follow' in sys.argv\nprint({entry(XID)!r}, flush=True)\ntime.sleep(60)\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    broker = MemoryBroker()
    how = CollectorSettings(
        globs=[], pattern="(?P<job>x)", node_globs=["journal"], node="n1", checkpoint=tmp_path / "state"
    )
    collector = Collector(how, broker.producer)

    def shipped() -> bool:
        collector.step()
        return bool(broker.read("node-logs"))

    wait_for(shipped, 20)
    collector.close()
    (chunk,) = [decode(NodeLogChunk, message.value) for message in broker.read("node-logs")]
    assert (chunk.node, chunk.source, chunk.lines) == ("n1", "system", [f"kernel: {XID}"])


def test_a_node_without_a_journal_is_told_of_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    how = CollectorSettings(
        globs=[], pattern="(?P<job>x)", node_globs=["journal"], node="n1", checkpoint=tmp_path / "state"
    )
    collector = Collector(how, MemoryBroker().producer)
    for _ in range(3):
        collector.step()
    assert value(collector.metrics.files_refused) == 1
    collector.close()
