import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.corpus import capture

LOOP = r"""
import sys, time
for step in range(5):
    print(f"step {step}", flush=True)
    time.sleep(0.1)
sys.stderr.write("bar 1\rbar 2\r\nend")
"""


def captured(code: str, folder: Path, limit: float = 30.0, terminal: bool = False) -> capture.Captured:
    return capture.run([sys.executable, "-c", code], {}, folder, limit, terminal)


def test_pieces_come_with_their_times(tmp_path) -> None:
    found = captured(LOOP, tmp_path)
    assert found.code == 0
    text = b"".join(piece for piece, _ in found.pieces)
    assert text == b"step 0\nstep 1\nstep 2\nstep 3\nstep 4\nbar 1\rbar 2\r\nend"
    steps = [arrived for piece, arrived in found.pieces if piece.startswith(b"step")]
    assert steps == sorted(steps)
    # However late a busy machine reads, never before the line was written.
    assert all(arrived >= 0.1 * step for step, arrived in enumerate(steps))
    assert steps[-1] < time.time() - found.start


def test_a_terminal_is_seen_as_one(tmp_path) -> None:
    found = captured("import sys; print(sys.stdout.isatty())", tmp_path, terminal=True)
    assert found.pieces[0][0].strip() == b"True"


@pytest.mark.slow
def test_what_takes_too_long_is_ended(tmp_path) -> None:
    began = time.monotonic()
    found = captured("import time; print('begun', flush=True); time.sleep(100)", tmp_path, limit=1.0)
    assert found.code != 0
    assert time.monotonic() - began < 60


def test_a_failing_program_keeps_its_output_and_code(tmp_path) -> None:
    found = captured("import sys; print('so far'); sys.exit(3)", tmp_path)
    assert (found.code, found.pieces[0][0]) == (3, b"so far\n")


@settings(deadline=None)  # each example writes files
@given(
    st.lists(st.tuples(st.binary(max_size=30), st.integers(0, 10_000)), max_size=20).map(
        lambda pieces: sorted(pieces, key=lambda piece: piece[1])
    )
)
def test_what_was_written_is_read_again(tmp_path_factory, pieces) -> None:
    folder = tmp_path_factory.mktemp("log")
    expected = [(piece, milliseconds / 1000) for piece, milliseconds in pieces]
    capture.write(folder, capture.Captured(1.5e9, 0, expected))
    found = capture.read(folder)
    assert found.start == 1.5e9
    assert found.pieces == expected


def test_a_long_log_is_compressed_and_a_shorter_one_replaces_it(tmp_path) -> None:
    capture.write(tmp_path, capture.Captured(0.0, 0, [(b"x" * 60_000, 1.0)]))
    assert {path.name for path in tmp_path.glob("log*")} == {"log.txt.gz"}
    assert capture.read(tmp_path).pieces == [(b"x" * 60_000, 1.0)]
    capture.write(tmp_path, capture.Captured(0.0, 0, [(b"short", 1.0)]))
    assert {path.name for path in tmp_path.glob("log*")} == {"log.txt"}
