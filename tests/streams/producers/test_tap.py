import os
import select
import signal
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from streams.producers import frames
from streams.producers import tap as tap_module
from streams.producers.backlog import Budgets
from streams.producers.frames import Block, Close, End, FrameReader, Gap
from streams.producers.pieces import Mark
from streams.producers.progress import Progress
from streams.producers.rest import Rest, Start
from streams.producers.tap import Tap

from .switchable import wait_for

LIMIT_S = 120.0
"""Limit for conditions that come true within milliseconds on an idle host."""

ITEMS = st.lists(
    st.one_of(
        st.builds(Block, st.integers(0, 1), st.integers(0, 3).map(float), st.binary(min_size=1, max_size=30)),
        st.builds(Gap, st.integers(0, 1), st.just(0.0), st.integers(0, 99), st.integers(0, 99)),
    ),
    max_size=20,
)


def written(item: Block | Gap) -> bytes:
    if isinstance(item, Block):
        return b"".join(frames.block(item.stream, item.time, item.data))
    return b"".join(frames.gap(item.stream, item.time, item.size, item.newlines))


def per_stream(items: Iterable[Block | Gap | End | Close]) -> dict[int, list[object]]:
    """Bytes and gaps of each stream in order: what must not depend on how frames were read or joined."""
    found: dict[int, list[object]] = {0: [], 1: []}
    for item in items:
        if not isinstance(item, (Block, Gap)):
            continue
        mine = found[item.stream]
        if isinstance(item, Gap):
            mine.append((item.size, item.newlines))
        else:
            mine.extend(item.data)
    return found


@given(ITEMS, st.integers(1, 50))
def test_frames_survive_any_cut(items: list[Block | Gap], size: int) -> None:
    data = b"".join(map(written, items))
    reader = FrameReader()
    found = [item for at in range(0, len(data), size) for item in reader.feed(data[at : at + size])]
    assert per_stream(found) == per_stream(items)


def test_reads_that_came_together_become_one() -> None:
    blocks = [Block(0, 1.0, b"a"), Block(0, 1.0005, b"b"), Block(1, 1.0005, b"c"), Block(0, 1.1, b"d")]
    found = list(FrameReader().feed(b"".join(map(written, blocks))))
    assert found == [Block(0, 1.0, b"ab"), Block(1, 1.0005, b"c"), Block(0, 1.1, b"d")]


DEFAULT = Budgets()


def make_tap(
    into: int,
    tmp_path: Path,
    progress: Progress,
    budgets: Budgets = DEFAULT,
    restart: Callable[[Start], int] | None = None,
) -> Tap:
    rest = str(tmp_path / "p.rest")
    make_rest = partial(Rest.create, rest, progress.passed_bytes, b"{}")
    return Tap(into, make_rest, progress, budgets, restart)


def read_all(pipe: int, progress: Progress) -> list[Block | Gap]:
    """Read as a shipping process does to which all is safe at once."""
    reader, found, sizes = FrameReader(), list[Block | Gap](), [0, 0]
    while data := os.read(pipe, 1 << 16):
        for item in reader.feed(data):
            if isinstance(item, (Block, Gap)):
                found.append(item)
                sizes[item.stream] += item.size if isinstance(item, Gap) else len(item.data)
                progress.set_safe(item.stream, Mark(sizes[item.stream], 1, 1), 0)
    return found


def idle(pipe: int) -> bool:
    return not select.select([pipe], [], [], 0)[0]


def test_what_the_pipe_does_not_take_waits_in_memory_and_then_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tap_module, "PATIENCE", (1, LIMIT_S))  # on a busy host the thread may move memory to disk late
    out, into = os.pipe()
    progress = Progress()
    tap = make_tap(into, tmp_path, progress, Budgets(200_000, 10_000_000))
    tap.start()
    blocks = [b"%d" % i * 20_000 for i in range(100)]
    for block in blocks:
        tap.put(0, 1.0, block)
    pid = os.fork()
    if pid == 0:
        os.close(into)
        os._exit(0 if per_stream(read_all(out, progress)) == per_stream([Block(0, 1.0, b) for b in blocks]) else 1)
    assert tap.close(LIMIT_S)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert tap.leave() == 0
    os.close(out)
    assert [path.name for path in tmp_path.glob("p.rest/*")] == ["progress"]


def test_lines_are_kept_while_the_process_is_stopped_again_and_again(tmp_path: Path) -> None:
    """As by a limit of processor time, or a scheduler that suspends jobs."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        progress = Progress()
        tap = make_tap(into, tmp_path, progress, Budgets(200_000, 100_000_000))
        tap.start()
        for number in range(1000):
            tap.put(0, 1.0, b"%03d" % number * 10_000)
        tap.close(0)
        tap.leave(0)
        os._exit(0)
    os.close(into)
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.1)
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.005)
    os.close(out)

    def bytes_in_rest() -> int:
        return sum(path.stat().st_size for path in tmp_path.glob("p.rest/*.frames"))

    wait_for(lambda: bytes_in_rest() >= 30_000_000)


def test_past_memory_and_disk_it_counts_and_never_waits_long(tmp_path: Path) -> None:
    out, into = os.pipe()
    progress = Progress()
    tap = make_tap(into, tmp_path, progress, Budgets(100_000, 100_000))
    tap.start()
    started = time.monotonic()
    for _ in range(500):
        tap.put(1, 1.0, b"line\n" * 2000)
    assert time.monotonic() - started < LIMIT_S
    pid = os.fork()
    if pid == 0:
        os.close(into)
        found = read_all(out, progress)
        kept = sum(len(item.data) for item in found if isinstance(item, Block))
        gaps = [item for item in found if isinstance(item, Gap)]
        right = (
            kept + sum(gap.size for gap in gaps) == 5_000_000
            and sum(gap.newlines for gap in gaps) * 5 == 5_000_000 - kept
        )
        os._exit(0 if gaps and right else 1)
    assert tap.close(LIMIT_S)
    assert progress.passed.sizes == (0, 5_000_000)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(out)


def test_a_reader_that_is_gone_is_no_error(tmp_path: Path) -> None:
    out, into = os.pipe()
    tap = make_tap(into, tmp_path, Progress())
    tap.start()
    os.close(out)
    deadline = time.monotonic() + LIMIT_S
    while not tap.broken and time.monotonic() < deadline:
        tap.put(0, 1.0, b"x" * 1000)
    assert tap.broken
    tap.put(0, 1.0, b"x")
    assert not tap.close(1)
    assert tap.leave() == 0
    assert list(tmp_path.glob("p.rest/*.frames"))


def test_another_reader_gets_what_was_not_safe(tmp_path: Path) -> None:
    out, into = os.pipe()
    progress = Progress()
    next_out, next_into = os.pipe()
    starts: list[Start] = []

    def restart(start: Start) -> int:
        starts.append(start)
        return next_into

    tap = make_tap(into, tmp_path, progress, restart=restart)
    tap.start()
    blocks = [b"%02d" % i * 500 for i in range(50)]
    tap.put(0, 1.0, blocks[0])
    assert os.read(out, 1 << 16)
    progress.set_safe(0, Mark(1000, 1, 1), 0)
    for block in blocks[1:]:
        tap.put(0, 1.0, block)
    os.close(out)
    found = b""
    reader = FrameReader()
    while not found.endswith(blocks[-1]):
        found += b"".join(item.data for item in reader.feed(os.read(next_out, 1 << 16)) if isinstance(item, Block))
    (start,) = starts
    assert found[1000 - start.totals.sizes[0] :] == b"".join(blocks[1:])
    assert start.totals.sizes[0] in {0, 1000}
    tap.close(0)
    os.close(next_out)


def test_what_a_reader_that_hangs_does_not_take_is_left_on_disk(tmp_path: Path) -> None:
    out, into = os.pipe()
    progress = Progress()
    tap = make_tap(into, tmp_path, progress)
    tap.start()
    tap.put(0, 1.0, b"x" * 1_000_000)
    assert not tap.close(0.1)
    assert tap.leave() == 0
    deadline = time.monotonic() + LIMIT_S
    size = 0
    while size < 1_000_000 and time.monotonic() < deadline:  # a process in the background may write it
        size = sum(path.stat().st_size for path in tmp_path.glob("p.rest/*.frames"))
    assert 1_000_000 < size < 1_001_000
    assert not idle(out)
    os.close(out)
