import errno
import os
import resource
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from streams.producers.spool import Spool, SpoolBusy, SpoolFull, orphans

from .switchable import segments

BUDGET = 1 << 20


def drain(spool: Spool) -> list[bytes]:
    found = []
    while (entry := spool.read()) is not None:
        found.append(entry.payload)
        spool.acknowledge(entry)
    return found


def files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.segment"))


def test_what_goes_in_comes_out_in_order_and_the_directory_goes_away(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "p", BUDGET)
    payloads = [bytes([i]) * 1000 for i in range(200)]
    for payload in payloads:
        spool.append(payload)
    assert spool.unread
    assert drain(spool) == payloads
    assert spool.empty
    assert not spool.unread
    spool.close()
    assert not (tmp_path / "p").exists()


@given(st.lists(st.sampled_from(["append", "read", "acknowledge", "keep"]), max_size=80))
def test_any_order_of_work_keeps_order_and_frees_the_disk(
    tmp_path_factory: pytest.TempPathFactory, work: list[str]
) -> None:
    spool = Spool(tmp_path_factory.mktemp("spool") / "p", 2000)
    written, seen, held = 0, [], []
    for step in [*work, *["read", "acknowledge"] * 90]:
        if step == "append" or (step == "keep" and not spool.unread):
            try:
                entry = spool.append(b"%5d" % written + b"." * 50, read=step == "keep")
            except SpoolFull:
                continue
            if step == "keep":
                held.append(entry)
            written += 1
        elif step == "read" and (entry_read := spool.read()) is not None:
            held.append(entry_read)
        elif step == "acknowledge" and held:
            seen.append(int(held[0].payload[:5]))
            spool.acknowledge(held.pop(0))
    assert seen == list(range(written))
    assert spool.empty
    assert spool.size == 0


def test_segments_are_deleted_as_they_are_acknowledged(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "p", 80_000)
    for _ in range(70):
        spool.append(b"z" * 1000)
    before = len(files(tmp_path / "p"))
    entries = [spool.read() for _ in range(35)]
    for entry in entries:
        assert entry is not None
        spool.acknowledge(entry)
    assert len(files(tmp_path / "p")) < before
    assert spool.size < 45_000


def test_the_budget_holds_and_frees_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "p", 10_000)
    for _ in range(11):
        spool.append(b"z" * 900)
    with pytest.raises(SpoolFull):
        spool.append(b"z" * 900)
    assert 8_000 < sum(path.stat().st_size for path in files(tmp_path / "p")) <= 10_000
    spool.append(b"one more", beyond_budget=True)
    drain(spool)
    spool.append(b"z" * 900)


def test_a_process_killed_while_writing_leaves_all_it_wrote(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom streams.producers.spool import Spool\n"
        "spool = Spool(Path(sys.argv[1]), 1 << 20)\n"
        "for i in range(500): spool.append(b'%d' % i)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "p")], check=False, cwd=Path.cwd())
    (spool,) = orphans(tmp_path, BUDGET)
    assert drain(spool) == [b"%d" % i for i in range(500)]
    spool.close()
    assert list(orphans(tmp_path, BUDGET)) == []
    assert not (tmp_path / "p").exists()


@given(st.integers(1, 60))
def test_a_torn_tail_costs_only_the_torn_entry(tmp_path_factory: pytest.TempPathFactory, torn: int) -> None:
    root = tmp_path_factory.mktemp("spool")
    with Spool(root / "p", BUDGET) as spool:
        for i in range(10):
            spool.append(b"%060d" % i)
    (segment,) = files(root / "p")
    os.truncate(segment, segment.stat().st_size - torn)
    with Spool(root / "p", BUDGET) as spool:
        assert drain(spool) == [b"%060d" % i for i in range(9)]
        assert spool.empty


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    with Spool(tmp_path / "p", BUDGET) as spool:
        for i in range(3):
            spool.append(b"%060d" % i)
    (segment,) = files(tmp_path / "p")
    content = bytearray(segment.read_bytes())
    content[80] ^= 1
    segment.write_bytes(content)
    with Spool(tmp_path / "p", BUDGET) as spool:
        assert drain(spool) == [b"%060d" % 0]


def test_two_never_own_one_spool(tmp_path: Path) -> None:
    with Spool(tmp_path / "p", BUDGET) as spool:
        spool.append(b"x")
        with pytest.raises(SpoolBusy):
            Spool(tmp_path / "p", BUDGET)
        assert list(orphans(tmp_path, BUDGET)) == []
    (orphan,) = orphans(tmp_path, BUDGET)
    assert list(orphans(tmp_path, BUDGET)) == []
    assert drain(orphan) == [b"x"]
    orphan.close()


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: both make a write come up short."""
    spool = Spool(tmp_path / "p", BUDGET)
    spool.append(b"first" * 100)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (700, hard))
    try:
        for _ in range(2):
            with pytest.raises(OSError, match="disk full") as refused:
                spool.append(b"second" * 100)
            assert refused.value.errno in (None, errno.EFBIG)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    spool.append(b"third")
    assert drain(spool) == [b"first" * 100, b"third"]


def test_spools_that_go_while_they_are_listed_are_no_error(tmp_path: Path) -> None:
    done = threading.Event()

    def come_and_go() -> None:
        while not done.is_set():
            (tmp_path / "spool").mkdir()
            (tmp_path / "spool" / "1.segment").touch()
            shutil.rmtree(tmp_path / "spool")

    coming = threading.Thread(target=come_and_go)
    coming.start()
    try:
        for _ in range(2000):
            assert len(segments(tmp_path)) <= 1
    finally:
        done.set()
        coming.join()
