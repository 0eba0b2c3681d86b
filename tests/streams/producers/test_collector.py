import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from schedmate_records import LogChunk, NodeLogChunk, decode
from streams.producers.checkpoint import CollectorCheckpoint, InvalidCheckpoint
from streams.producers.envelope import Envelope, Source
from streams.producers.paths import InvalidPattern, JobPattern
from streams.producers.shipper import Shipper
from streams.producers.spool import SpoolSettings
from streams.producers.tail import MOST_WAITING, READ, Tail
from streams.transport import outgoing
from tests.metric_values import value

from .collector_site import PATTERN, Site, site
from .switchable import Switchable, wait_for

__all__ = ["site"]


def test_files_are_followed_and_the_path_says_whose_they_are(site: Site) -> None:
    site.write("4711_3.out", b"one\ntwo\n")
    site.write("4711_3.err", b"oops\n")
    collector = site.start()
    site.settle(collector)
    site.write("4711_3.out", b"three\nfo")
    site.write("4712.out", b"other\n")
    site.settle(collector)
    found = {(c.job, c.rank, c.stream, c.node) for c in site.broker.chunks}
    assert found == {("4711", 3, "stdout", "n1"), ("4711", 3, "stderr", "n1"), ("4712", 0, "stdout", "n1")}
    out = [c for c in site.broker.chunks if (c.job, c.stream) == ("4711", "stdout") and c.lines]
    assert [(c.first_line, c.first_piece, c.lines) for c in out] == [(1, 1, ["one", "two"]), (3, 3, ["three"])]
    assert len({c.producer for c in out}) == 1
    site.write("4711_3.out", b"ur\n")
    site.settle(collector)
    assert site.broker.lines[-1] == "four"
    assert value(collector.metrics.lines) == 6
    assert value(collector.metrics.files) == 3


def test_a_path_without_a_job_is_said_once_and_left_out(site: Site) -> None:
    site.write("notes.txt", b"nothing\n")
    site.write("99999999_x.out", b"nothing\n")
    (site.directory / "logs" / "4711.out.d").mkdir()
    collector = site.start(pattern=r"/(?P<job>\d+)_(?P<rank>\w+)\.out$")
    site.settle(collector)
    assert site.broker.written == []
    assert value(collector.metrics.files_refused) == 2


@pytest.mark.parametrize("name", ["99999999999_0.out", "4711_99999999999.out", "47\x1b[2J_1.out"])
def test_a_path_whose_names_and_numbers_no_reader_takes_is_left_out(site: Site, name: str) -> None:
    site.write(name, b"line\n")
    collector = site.start(pattern=r"/(?P<job>[^/]+)_(?P<rank>\d+)\.out$")
    site.settle(collector)
    left_out = name != "99999999999_0.out"
    assert bool(site.broker.written) == (not left_out)
    assert value(collector.metrics.files_refused) == left_out


def test_a_collector_that_starts_again_goes_on_where_the_broker_stands(site: Site) -> None:
    site.write("1.out", b"".join(b"line %d\n" % i for i in range(2000)) + b"unfin")
    first = site.start()
    site.settle(first)
    site.stop(first)
    site.write("1.out", b"ished\nmore\n")
    second = site.start()
    site.settle(second)
    assert site.broker.lines == [*[f"line {i}" for i in range(2000)], "unfinished", "more"]
    rows = site.numbered()
    assert [row[1] for row in rows] == list(range(1, 2003))
    assert len({row[0] for row in rows}) == 1
    assert [chunk.seq for chunk in site.broker.chunks] == list(range(len(site.broker.chunks)))


def test_what_was_not_acknowledged_is_read_again_under_the_same_numbers(site: Site) -> None:
    site.write("1.out", b"a\nb\n")
    first = site.start(close_timeout=0.1)
    site.settle(first)
    site.broker.state = "silent"
    site.write("1.out", b"c\nd\n")
    for _ in range(8):
        site.now += 0.25
        first.step()
    site.stop(first)
    site.broker.state = "up"
    site.write("1.out", b"e\n")
    second = site.start()
    site.settle(second)
    assert site.broker.lines == ["a", "b", "c", "d", "e"]
    assert [row[2] for row in site.numbered()] == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_a_collector_killed_at_any_moment_loses_and_doubles_nothing(site: Site) -> None:
    code = (
        "import sys, threading\nfrom pathlib import Path\n"
        "from streams.producers.collector import Collector\nfrom streams.producers.collector_settings import CollectorSettings\n"
        "from tests.streams.producers.pipe_driver import DirectoryBroker\n"
        "d = Path(sys.argv[1])\n"
        f"settings = CollectorSettings([str(d / 'logs' / '*')], r'{PATTERN}', 'n1', d / 'checkpoint', poll_s=0.01)\n"
        "Collector(settings, lambda: DirectoryBroker(d)).run(threading.Event())\n"
    )
    (site.directory / "up").touch()
    root = Path(__file__).resolve().parents[3]
    out = site.directory / "written"
    written = 0
    for round_ in range(4):
        with subprocess.Popen([sys.executable, "-c", code, str(site.directory)], cwd=root) as process:
            try:
                size = out.stat().st_size if out.exists() else 0
                for _ in range(10):
                    site.write("1.out", b"".join(b"line %d\n" % (written + i) for i in range(700)))
                    written += 700
                    time.sleep(0.02)
                wait_for(lambda: out.exists() and out.stat().st_size > size)  # noqa: B023
                if round_ == 3:
                    last = f"line {written - 1}"
                    wait_for(lambda: last in out.read_text())  # noqa: B023
            finally:
                process.kill()
    from .pipe_site import Site as Written

    chunks = Written(site.directory).chunks()
    seen = 0
    for chunk in chunks:
        assert chunk.producer == chunks[0].producer
        assert chunk.first_piece <= seen + 1
        for i, line in enumerate(chunk.lines):
            assert line == f"line {chunk.first_piece + i - 1}"
        seen = max(seen, chunk.first_piece + len(chunk.lines) - 1)
    assert seen == written


def test_rotation_by_rename_finishes_the_old_file_first_and_counts_on(site: Site) -> None:
    path = site.write("1.out", b"one\n")
    collector = site.start()
    site.settle(collector)
    path.rename(path.with_name("1.out.1"))
    site.write("1.out", b"three\n")
    site.write("1.out.1", b"two, written after the rename\nend")
    site.settle(collector)
    site.write("1.out", b"four\n")
    site.settle(collector)
    assert [row[1:] for row in site.numbered()] == [
        (1, 1, "one"), (2, 2, "two, written after the rename"), (3, 3, "end"), (4, 4, "three"), (5, 5, "four"),
    ]  # fmt: skip
    assert len({row[0] for row in site.numbered()}) == 1
    site.stop(collector)
    again = site.start()
    site.settle(again)
    assert len(site.numbered()) == 5


def test_who_renames_his_log_without_end_takes_few_descriptors(site: Site) -> None:
    """The first file is never quiet, so none of those behind it is begun, and each is held open."""
    path, descriptors = site.write("1.out", b"first\n"), Path("/proc/self/fd")
    collector = site.start()
    site.settle(collector)
    before = len(list(descriptors.iterdir()))
    for number in range(2 * MOST_WAITING):
        path.rename(site.directory / str(number))
        site.write("1.out", b"%d\n" % number)
        with (site.directory / "0").open("ab") as first:
            first.write(b"goes on\n")
        site.now += 1.0
        collector.step()
    assert len(list(descriptors.iterdir())) - before <= MOST_WAITING
    site.settle(collector)
    assert "0" in site.broker.lines


def test_rotation_while_the_collector_was_away(site: Site) -> None:
    path = site.write("1.out", b"one\n")
    first = site.start()
    site.settle(first)
    site.stop(first)
    site.write("1.out", b"two\n")
    os.utime(path, (100, 100))
    path.rename(path.with_name("1.out.2"))
    site.write("1.out", b"three\n")
    os.utime(path, (200, 200))
    path.rename(path.with_name("1.out.1"))
    site.write("1.out", b"four\n")
    second = site.start()
    site.settle(second, 12)
    assert [row[1:] for row in site.numbered()] == [(1, 1, "one"), (2, 2, "two"), (3, 3, "three"), (4, 4, "four")]
    assert len({row[0] for row in site.numbered()}) == 1


def test_truncation_begins_a_new_numbering(site: Site) -> None:
    path = site.write("1.out", b"one\ntwo\nthree\n")
    collector = site.start()
    site.settle(collector)
    os.truncate(path, 0)
    site.write("1.out", b"new\n")
    site.settle(collector)
    rows = site.numbered()
    assert rows[-1][1:] == (1, 1, "new")
    assert rows[-1][0] != rows[0][0]
    assert site.once() == ["one", "two", "three", "new"]


def test_a_file_written_over_while_the_collector_was_away_is_new(site: Site) -> None:
    path = site.write("1.out", b"one\ntwo\n")
    first = site.start()
    site.settle(first)
    site.stop(first)
    os.truncate(path, 0)
    site.write("1.out", b"another story, longer than the first\n")
    second = site.start()
    site.settle(second)
    assert site.once() == ["one", "two", "another story, longer than the first"]


def test_a_deleted_file_gives_its_last_line_and_is_forgotten(site: Site) -> None:
    path = site.write("1.out", b"one\n")
    collector = site.start()
    site.settle(collector)
    site.write("1.out", b"last")
    path.unlink()
    site.settle(collector)
    assert site.broker.lines == ["one", "last"]
    assert value(collector.metrics.files) == 0
    site.write("1.out", b"again\n")
    site.settle(collector)
    assert site.once() == ["one", "last", "again"]


def test_bars_and_broken_bytes_go_through_restarts(site: Site) -> None:
    data = b"\r 0%\r 50%\xff\r\n" + b"x" * 100_000 + b"\ny\r"
    rng = random.Random(4)
    at = 0
    while at < len(data):
        step = rng.choice([1, 3, 20_000])
        site.write("1.out", data[at : at + step])
        at += step
        collector = site.start()
        site.settle(collector, 1.5)
        site.stop(collector)
    lines = site.once()
    assert lines[:3] == [" 0%\r", " 50%\\xff", "x" * 32768]
    assert "".join(lines[2:]) == "x" * 100_000
    assert len(site.numbered()) == len(lines)


def test_while_the_broker_is_away_the_files_wait(site: Site) -> None:
    site.broker.state = "away"
    lines = [f"line {i}" for i in range(40_000)]
    written = 5 * len("\n".join(lines))
    for job in range(5):
        site.write(f"{job}.out", "\n".join([*lines, ""]).encode())
    collector = site.start(memory=300_000)
    read = 0
    for _ in range(40):
        site.now += 0.25
        read += collector.step()
    assert read <= 300_000 + 5 * READ < written, (
        "memory, and what was read of each file before it turned out to be full"
    )
    site.broker.state = "up"
    wait_for(lambda: collector.step() is not None and len(site.broker.lines) == 5 * len(lines), 60)
    for job in range(5):
        assert [line for c in site.broker.chunks if c.job == str(job) for line in c.lines] == lines
    assert collector.shipper.counters.lost == 0


def test_a_loud_file_does_not_hold_up_a_quiet_one(site: Site) -> None:
    site.write("1.out", b"loud\n" * 1_000_000)
    site.write("2.out", b"quiet\n")
    collector = site.start()
    for _ in range(4):
        site.now += 0.25
        collector.step()
    wait_for(lambda: "quiet" in site.broker.lines)
    assert sum(line == "loud" for line in site.broker.lines) < 1_000_000


def test_node_logs_are_read_from_their_end_on(site: Site) -> None:
    old = site.directory / "kern.log"
    old.write_text("last week\n")
    collector = site.start(node_globs=[str(site.directory / "*.log")])
    site.settle(collector)
    with old.open("a") as out:
        out.write("now\n")
    (site.directory / "syslog.log").write_text("fresh\n")
    site.settle(collector)
    chunks = [decode(NodeLogChunk, m.value or b"") for m in site.broker.written if m.topic == "node-logs"]
    assert sorted((c.node, c.source, *c.lines) for c in chunks) == [("n1", "kernel", "now"), ("n1", "system", "fresh")]
    assert all(m.key == b"n1" for m in site.broker.written)


def test_old_files_can_be_left_out(site: Site) -> None:
    os.utime(site.write("1.out", b"old\n"), (10, 10))
    path = site.write("2.out", b"new\n")
    os.utime(path, (990, 990))
    collector = site.start(ignore_older_s=100.0)
    site.settle(collector)
    assert site.broker.lines == ["new"]


def test_what_pipes_left_is_sent(site: Site) -> None:
    spool = SpoolSettings(site.directory / "spool", 1 << 20)
    away = Switchable("away")
    pipe = Shipper(away.connect, "pipe", spool=spool, backoff=(0.02, 0.1))
    pipe.offer(Envelope(Source("9", ordering_key="p"), outgoing(LogChunk(job="9", lines=["left"], time=1.0)), 1))
    pipe.close(0.0)
    site.start(spool=spool)
    wait_for(lambda: site.broker.lines == ["left"])
    wait_for(lambda: not list(spool.root.iterdir()))


def test_a_thousand_idle_files_cost_little(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for job in range(1000):
        site.write(f"{job}.out", b"x\n")
    collector = site.start()
    site.settle(collector, 20)
    assert len(site.broker.lines) == 1000
    looked = threading.local()
    looked.count = 0
    monkeypatch.setattr(Tail, "read", lambda *_: setattr(looked, "count", looked.count + 1) or 0)
    for _ in range(4):
        site.now += 0.2
        collector.step()
    assert looked.count <= 1000


@pytest.mark.parametrize(
    ("path", "job", "rank"),
    [
        ("/logs/beta/4711_3.out", "beta/4711", 3),
        ("/logs/4711_3.out", "4711", 3),
        ("/logs/gamma/4711_3.out", "4711", 3),
    ],
)
def test_a_path_names_the_cluster_of_its_job(path: str, job: str, rank: int) -> None:
    found = JobPattern(rf"((?P<cluster>beta)/)?{PATTERN}").read(path, "n1")
    assert found
    assert (found.job, found.rank, found.node) == (job, rank, "n1")


def test_settings_that_cannot_work_say_why(tmp_path: Path) -> None:
    with pytest.raises(InvalidPattern, match="expected a regular expression"):
        JobPattern("(?P<job>")
    with pytest.raises(InvalidPattern, match=r"\(\?P<job>…\)"):
        JobPattern(r"(\d+)")
    with pytest.raises(InvalidPattern, match="gpu"):
        JobPattern(r"(?P<job>\d+)(?P<gpu>\d)")
    (tmp_path / "checkpoint").write_text("not one")
    with pytest.raises(InvalidCheckpoint, match="move it away"):
        CollectorCheckpoint(tmp_path / "checkpoint")
    (tmp_path / "checkpoint").write_text('{"version": 2, "logs": {}, "finished": []}')
    with pytest.raises(InvalidCheckpoint, match="version 1"):
        CollectorCheckpoint(tmp_path / "checkpoint")
    with CollectorCheckpoint(tmp_path / "other"), pytest.raises(InvalidCheckpoint, match="another collector"):
        CollectorCheckpoint(tmp_path / "other")
