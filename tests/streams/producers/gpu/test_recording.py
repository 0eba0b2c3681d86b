import gzip
from pathlib import Path

import msgspec
import pytest

from schedmate_records import GpuSample, encode
from streams.producers.gpu.recording import InvalidRecording, RecordingSource, RecordingWriter, shipped_recording
from streams.producers.gpu.source import sample_id

from .made_up import ABOUT, NODE, samples


class Now:
    """A wall clock and a timer that tests set."""

    def __init__(self) -> None:
        self.wall, self.ticks = 5000.0, 70.0

    def advance(self, seconds: float) -> None:
        self.wall += seconds
        self.ticks += seconds


def sample(gpu: int, time: float, **values: object) -> GpuSample:
    return GpuSample(id=sample_id("n1", gpu, time), node="n1", gpu=gpu, time=time, **values)  # type: ignore[arg-type]


def write(path: Path, *samples: GpuSample) -> Path:
    writer = RecordingWriter(path, "a test")
    writer.write(list(samples))
    writer.close()
    return path


def replay(path: Path, now: Now, **options: object) -> RecordingSource:
    return RecordingSource(path, clock=lambda: now.wall, timer=lambda: now.ticks, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_what_was_recorded_comes_back_at_its_pace_and_based_on_now(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, sample(0, 100), sample(1, 100, utilisation=7, xids=[79]), sample(0, 103))
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    now = Now()
    source = replay(path, now)
    first, second = source.sample()
    assert (first.id, first.time, first.recorded) == ("gpu/n1/0/5000000", 5000.0, True)
    assert (second.utilisation, second.xids, second.node) == (7, [79], "n1")
    now.advance(2.5)
    assert source.sample() == []
    assert not source.exhausted
    now.advance(1)
    [third] = source.sample()
    assert third.time == 5003.0
    assert source.exhausted
    assert source.sample() == []
    source.close()


def test_a_loop_keeps_the_gap_and_never_gives_an_id_twice(tmp_path: Path) -> None:
    now = Now()
    source = replay(write(tmp_path / "r.jsonl", sample(0, 100), sample(0, 102)), now, loop=True, node="here")
    times, ids = [], set()
    for _ in range(8):
        for given in source.sample():
            times.append(given.time - 5000)
            ids.add(given.id)
        now.advance(1)
    assert times == [0, 2, 4, 6]
    assert ids == {"gpu/here/0/5000000", "gpu/here/0/5002000", "gpu/here/0/5004000", "gpu/here/0/5006000"}
    assert not source.exhausted


def test_a_loop_of_one_moment_ends_each_call(tmp_path: Path) -> None:
    now = Now()
    source = replay(write(tmp_path / "r.jsonl", sample(0, 100), sample(1, 100)), now, loop=True)
    assert len(source.sample()) == 2
    now.advance(1)
    assert len(source.sample()) == 2


def test_clocks_that_jump_do_not_disturb_the_replay(tmp_path: Path) -> None:
    now = Now()
    source = replay(write(tmp_path / "r.jsonl", sample(0, 100), sample(0, 90), sample(0, 102)), now)
    assert len(source.sample()) == 2  # set back while recording: given at once, not before the one before
    now.advance(1)
    now.wall += 86_400
    assert source.sample() == []
    now.advance(1)
    assert [given.time for given in source.sample()] == [5002 + 86_400]


def test_a_recording_is_never_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", sample(0, 1))
    with pytest.raises(FileExistsError):
        RecordingWriter(path, "again")


def test_a_file_that_was_cut_off_is_replayed_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.jsonl.gz", *(sample(0, float(time)) for time in range(500)))
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    now = Now()
    source = replay(cut, now)
    now.advance(0)
    given = source.sample()
    now.advance(1000)
    given += source.sample()
    assert 0 < len(given) < 500
    assert source.exhausted


def test_a_damaged_or_deleted_file_ends_the_replay_and_raises_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl.gz", *(sample(0, float(time), name=f"{time * 7919}") for time in range(5000)))
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 200] = bytes(200)
    path.write_bytes(content)
    now = Now()
    source = replay(path, now, loop=True)
    assert len(source.sample()) == 1
    path.unlink()
    now.advance(10_000)
    assert 0 < len(source.sample()) < 5000
    assert source.exhausted


def test_bad_lines_are_counted_and_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", sample(0, 1))
    newer = msgspec.structs.replace(sample(0, 2), v=99)
    path.write_bytes(
        path.read_bytes() + b'nonsense\n\n{"v":1}\n\xff\xfe\n' + encode(newer) + b"\n" + encode(sample(0, 3))[:-9]
    )
    source = replay(path, Now())
    assert len(source.sample()) == 1
    assert source.exhausted
    assert source.bad_lines == 6


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "expected"),
        (b"\xff\x00", "--record FILE"),
        (b'{"hello":1}\n', "--record FILE"),
        (b'{"format":"something/7","about":"x"}\n', "got 'something/7'"),
        (b'{"format":"schedmate-gpu-recording/1","about":"x"}\n', "got none"),
        (b'{"format":"schedmate-gpu-recording/1","about":"x"}\nnonsense\n', "got none"),
    ],
)
def test_what_is_no_recording_is_refused_in_words(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(content)
    with pytest.raises(InvalidRecording, match=r"^expected.*") as refused:
        RecordingSource(path, loop=True)
    assert says in str(refused.value)
    with pytest.raises(InvalidRecording):
        RecordingSource(tmp_path / "absent.jsonl.gz")
    (tmp_path / "no.gz").write_bytes(b"not gzip")
    with pytest.raises(InvalidRecording):
        RecordingSource(tmp_path / "no.gz")


def test_the_shipped_recording_is_what_its_script_makes_up_and_says_so_everywhere() -> None:
    header, *lines = shipped_recording().read_bytes().splitlines()
    assert lines == [encode(made) for made in samples()], "run python -m streams.producers.gpu.made_up"
    assert b'"made_up":true' in header
    assert b"no GPU was measured" in header
    for made in samples():
        assert made.recorded
        assert all("made-up" in text for text in (made.node, made.name, made.uuid, NODE))
        assert all("made-up" in (process.job or "") for process in made.processes)
    source = RecordingSource(shipped_recording())
    assert source.made_up
    assert ABOUT in source.about


def test_the_shipped_recording_shows_what_goes_wrong_with_gpus() -> None:
    made = list(samples())
    assert {xid for one in made for xid in one.xids} == {63, 79, 94}
    assert any(one.ecc_uncorrected for one in made)
    assert any("hw_thermal_slowdown" in (one.throttle_reasons or []) for one in made)
    assert {one.error for one in made} == {"", "GPU is lost"}
    assert len({one.id for one in made}) == len(made)


def test_a_gz_recording_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r.jsonl.gz", "a test")
    writer.write([sample(0, 1)])
    source = RecordingSource(tmp_path / "r.jsonl.gz")
    assert len(source.sample()) == 1
    writer.close()
    with gzip.open(tmp_path / "r.jsonl.gz") as file:
        assert len(file.readlines()) == 2
