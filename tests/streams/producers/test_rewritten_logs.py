"""Logs whose content changes behind the reader: truncated, written anew, and with holes."""

import json
import os
import zlib
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from streams.producers.tail import READ
from tests.metric_values import value

from .collector_site import Site, site
from .switchable import wait_for

__all__ = ["site"]

BANNER = b"".join(b"banner line %d of a program\n" % number for number in range(12))


def text(run: int, lines: int, width: int = 0) -> bytes:
    return b"".join(b"run %d line %d%s\n" % (run, number, b"." * width) for number in range(lines))


def rewrite(path: Path, data: bytes) -> None:
    """Truncate a file and write `data`: its inode stays."""
    with path.open("r+b") as out:
        out.truncate(0)
        out.write(data)


def lines(data: bytes) -> list[str]:
    return data.decode().splitlines()


def test_a_file_rewritten_longer_while_the_broker_is_away_is_read_whole(site: Site) -> None:
    path = site.write("1.out", text(1, 20))
    site.write("2.out", b"x" * 100 + b"\n")
    collector = site.start(memory=70_000)
    site.settle(collector)
    site.broker.state = "away"
    site.write("2.out", (b"y" * 100 + b"\n") * 5000)
    for _ in range(8):
        site.now += 0.25
        collector.step()
    rewrite(path, text(2, 40, 30))
    for _ in range(8):
        site.now += 0.25
        collector.step()
    site.broker.state = "up"
    site.settle(collector, 20)
    wait_for(lambda: collector.step() is not None and len(site.broker.lines) == 1 + 5000 + 20 + 40)
    chunks = [chunk for chunk in site.broker.chunks if chunk.job == "1"]
    assert [line for chunk in chunks for line in chunk.lines] == lines(text(1, 20) + text(2, 40, 30))
    _, second = dict.fromkeys(chunk.producer for chunk in chunks)
    assert next(chunk.first_line for chunk in chunks if chunk.producer == second) == 1
    assert value(collector.metrics.files_rewritten) == 1


@pytest.mark.parametrize("banner", [BANNER, BANNER * 40], ids=["short", "longer than what is compared"])
@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
def test_another_run_with_the_same_banner_is_told_from_the_first(site: Site, banner: bytes, running: bool) -> None:
    path = site.write("1.out", banner + text(1, 20))
    collector = site.start()
    site.settle(collector)
    if not running:
        site.stop(collector)
    rewrite(path, banner + text(2, 40))
    with capture_logs() as logged:
        collector = collector if running else site.start()
        site.settle(collector)
    assert site.once() == lines(banner + text(1, 20) + banner + text(2, 40))
    assert len({row[0] for row in site.numbered()}) == 2
    assert [each["event"] for each in logged if "rewritten" in each["event"]] == ["log_rewritten"]
    assert value(collector.metrics.files_rewritten) == 1


@pytest.mark.parametrize("found_empty", [True, False])
def test_a_file_rewritten_after_a_crash_gets_numbers_of_its_own(site: Site, found_empty: bool) -> None:
    """Lines were shipped and not acknowledged in the checkpoint when the collector was killed."""
    path = site.write("1.out", b"")
    collector = site.start()
    if found_empty:
        site.settle(collector)
    site.write("1.out", text(1, 2000))
    site.now += 0.25
    collector.step()
    wait_for(lambda: site.broker.lines == lines(text(1, 2000)))
    checkpoint = site.directory / "state" / "checkpoint"
    at_the_crash = checkpoint.read_bytes()
    site.stop(collector)
    checkpoint.write_bytes(at_the_crash)
    rewrite(path, text(2, 2000))
    site.now += 0.25
    site.settle(site.start())
    assert site.once() == lines(text(1, 2000) + text(2, 2000))


def test_runs_that_end_alike_and_begin_differently_are_told_apart(site: Site) -> None:
    path = site.write("1.out", text(1, 1) + b"waiting\n" * 2000)
    collector = site.start()
    site.settle(collector)
    rewrite(path, text(2, 1) + b"waiting\n" * 3000)
    site.settle(collector)
    assert site.once() == lines(text(1, 1) + b"waiting\n" * 2000 + text(2, 1) + b"waiting\n" * 3000)


def test_a_file_rewritten_to_the_same_length_with_its_old_time_is_noticed(site: Site) -> None:
    path = site.write("1.out", text(1, 20))
    os.utime(path, (900, 900))
    collector = site.start()
    site.settle(collector)
    rewrite(path, text(2, 20))
    os.utime(path, (900, 900))
    site.settle(collector)
    assert site.once() == lines(text(1, 20) + text(2, 20))


def test_a_change_of_mode_or_time_repeats_nothing(site: Site) -> None:
    path = site.write("1.out", text(1, 20) + b"unfinished")
    collector = site.start()
    site.settle(collector)
    path.chmod(0o600)
    os.utime(path, (900, 900))
    site.settle(collector)
    site.stop(collector)
    collector = site.start()
    site.settle(collector)
    site.write("1.out", b" line\n")
    site.settle(collector)
    assert site.broker.lines == [*lines(text(1, 20)), "unfinished line"]
    assert value(collector.metrics.files_rewritten) == 0


def test_a_line_that_a_truncation_cut_is_shipped(site: Site) -> None:
    path = site.write("1.out", b"one\ntwo without its end")
    collector = site.start()
    site.settle(collector)
    rewrite(path, b"three\n")
    site.settle(collector)
    assert site.once() == ["one", "two without its end", "three"]


def test_half_a_line_whose_rest_was_not_read_is_not_shipped(site: Site) -> None:
    path = site.write("1.out", text(1, READ // 10))
    collector = site.start()
    site.now += 0.25
    collector.step()
    rewrite(path, b"three\n")
    site.settle(collector)
    assert set(site.once()) <= {*lines(text(1, READ // 10)), "three"}
    assert site.once()[-1] == "three"


def test_a_checkpoint_of_an_earlier_release_is_gone_on_with(site: Site) -> None:
    site.write("1.out", text(1, 100))
    collector = site.start()
    site.settle(collector)
    site.stop(collector)
    checkpoint = site.directory / "state" / "checkpoint"
    content = json.loads(checkpoint.read_text())
    (place,) = content["logs"].values()
    for name in ("read", "last", "last_size"):
        del place[name]
    place["head"], place["head_size"] = zlib.crc32(text(1, 100)[:256]), 256
    checkpoint.write_text(json.dumps(content))
    site.write("1.out", b"after\n")
    site.settle(site.start())
    assert site.broker.lines == [*lines(text(1, 100)), "after"]


@pytest.mark.parametrize("old", [7, 5000, 3 * READ + 1234])
@pytest.mark.parametrize("seen", [True, False], ids=["truncation seen", "not seen"])
def test_a_hole_that_a_truncation_leaves_is_skipped(site: Site, old: int, seen: bool) -> None:
    """A writer without O_APPEND goes on at its offset, and the file is NUL up to there."""
    path = site.directory / "logs" / "1.out"
    with path.open("wb", buffering=0) as out, capture_logs() as logged:
        out.write(b"x" * (old - 1) + b"\n")
        collector = site.start()
        site.settle(collector)
        os.truncate(path, 0)
        if seen:
            site.settle(collector)
        out.write(b"after\nhal")
        site.settle(collector)
        out.write(b"f\nend\n")
        site.settle(collector)
    assert site.broker.lines[-3:] == ["after", "half", "end"]
    assert not any("\0" in line for line in site.broker.lines)
    rows = site.numbered()[-3:]
    assert [row[1:3] for row in rows] == [(1, 1), (2, 2), (3, 3)]
    assert value(collector.metrics.skipped_bytes) == old
    assert [each["event"] for each in logged].count("log_has_holes") == 1
    site.stop(collector)
    count = len(site.broker.lines)
    again = site.start()
    site.settle(again)
    assert len(site.broker.lines) == count


def test_a_file_of_a_terabyte_of_nothing_is_passed(site: Site) -> None:
    path = site.directory / "logs" / "16.out"
    path.touch()
    try:
        os.truncate(path, 1 << 40)
    except OSError:
        pytest.skip("no file of a terabyte here")
    site.write("17.out", b"other\n")
    collector = site.start()
    reads = 0
    for _ in range(40):
        site.now += 0.25
        reads += collector.step()
    assert reads == len(b"other\n")
    wait_for(lambda: site.broker.lines == ["other"])
    with path.open("r+b") as out:
        out.write(b"at its beginning\n")
    site.settle(collector)
    assert site.broker.lines == ["other", "at its beginning"]
    site.write("16.out", b"behind the hole\n")
    site.settle(collector)
    assert site.broker.lines == ["other", "at its beginning", "behind the hole"]
    assert value(collector.metrics.skipped_bytes) == (1 << 40) - len(b"at its beginning\n")


def test_nul_bytes_on_disk_are_skipped_and_single_ones_are_text(site: Site) -> None:
    data = b"a\0b\0\0c\n" + b"cut" + bytes(2 * READ) + b"here\n" + b"d" + bytes(15) + b"e\n" + b"f" + bytes(16) + b"g\n"
    site.write("1.out", data)
    collector = site.start()
    site.settle(collector)
    assert site.once() == ["a\0b\0\0c", "cut", "here", "d" + "\0" * 15 + "e", "f", "g"]
    assert [row[1:3] for row in site.numbered()] == [(number, number) for number in range(1, 7)]
    assert value(collector.metrics.skipped_bytes) == 2 * READ + 16


@pytest.mark.parametrize("size", [100_000, 1 << 34])
def test_text_in_a_preallocated_file_is_read_as_it_comes(site: Site, size: int) -> None:
    """A program may reserve the room for its log, and fill it."""
    path = site.write("1.out", b"")
    os.truncate(path, size)
    collector = site.start()
    site.settle(collector)
    with path.open("r+b", buffering=0) as out:
        for number in range(3):
            out.write(b"line %d\n" % number)
            site.settle(collector)
    assert site.broker.lines == ["line 0", "line 1", "line 2"]
