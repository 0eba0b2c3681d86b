import os
import select
import time
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import given

from streams.producers import frames
from streams.producers.frames import Block, FrameReader, Gap
from streams.producers.tap import Tap

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


def per_stream(items: list[Block | Gap]) -> dict[int, list[object]]:
    """Bytes and gaps of each stream in order: what must not depend on how frames were read or joined."""
    found: dict[int, list[object]] = {0: [], 1: []}
    for item in items:
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


def read_all(pipe: int) -> list[Block | Gap]:
    reader, found = FrameReader(), list[Block | Gap]()
    while data := os.read(pipe, 1 << 16):
        found += reader.feed(data)
    return found


def idle(pipe: int) -> bool:
    return not select.select([pipe], [], [], 0)[0]


def test_what_the_pipe_does_not_take_waits_in_memory_and_then_on_disk(tmp_path: Path) -> None:
    out, into = os.pipe()
    tap = Tap(into, tmp_path, memory=200_000, budget=10_000_000)
    tap.start()
    blocks = [b"%d" % i * 20_000 for i in range(100)]
    for block in blocks:
        tap.put(0, 1.0, block)
    assert list(tmp_path.iterdir()) == []  # the file has no name: a crash leaves nothing behind
    pid = os.fork()
    if pid == 0:
        os.close(into)
        os._exit(0 if per_stream(read_all(out)) == per_stream([Block(0, 1.0, b) for b in blocks]) else 1)
    assert tap.close(20) == 0
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(out)


def test_past_memory_and_disk_it_counts_and_never_waits_long(tmp_path: Path) -> None:
    out, into = os.pipe()
    tap = Tap(into, tmp_path, memory=100_000, budget=100_000)
    tap.start()
    started = time.monotonic()
    for _ in range(500):
        tap.put(1, 1.0, b"line\n" * 2000)
    assert time.monotonic() - started < 20
    pid = os.fork()
    if pid == 0:
        os.close(into)
        found = read_all(out)
        kept = sum(len(item.data) for item in found if isinstance(item, Block))
        gaps = [item for item in found if isinstance(item, Gap)]
        right = (
            kept + sum(gap.size for gap in gaps) == 5_000_000
            and sum(gap.newlines for gap in gaps) * 5 == 5_000_000 - kept
        )
        os._exit(0 if gaps and right else 1)
    assert tap.close(20) == 0
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(out)


def test_a_reader_that_is_gone_is_no_error(tmp_path: Path) -> None:
    out, into = os.pipe()
    tap = Tap(into, tmp_path)
    tap.start()
    os.close(out)
    deadline = time.monotonic() + 10
    while not tap.broken and time.monotonic() < deadline:
        tap.put(0, 1.0, b"x" * 1000)
    assert tap.broken
    tap.put(0, 1.0, b"x")
    assert tap.close(1) == 0


def test_a_reader_that_hangs_is_left_after_the_timeout(tmp_path: Path) -> None:
    out, into = os.pipe()
    tap = Tap(into, tmp_path)
    tap.start()
    tap.put(0, 1.0, b"x" * 1_000_000)
    assert tap.close(0.1) > 800_000
    assert not idle(out)
    os.close(out)
