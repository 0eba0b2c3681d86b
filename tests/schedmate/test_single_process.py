"""`analyze`, `classify` and `watch`: one process, no server, any input."""

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from backports import zstd

from .forked import run_forked

HEALTHY = [f"step {step}/400 | loss {10 / step:.4f} | step_time 0.250 s" for step in range(1, 61)]
CRASH = [
    "Traceback (most recent call last):",
    '  File "/home/u/train.py", line 12, in <module>',
    "    main()",
    '  File "/home/u/train.py", line 8, in main',
    "    batch = data[index]",
    "IndexError: list index out of range",
]


def schedmate(*arguments: str | Path, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return run_forked(*arguments, text=text, timeout_s=120)


def analyzed(*files: Path, text: bytes = b"") -> list[dict[str, Any]]:
    done = schedmate("analyze", "--format", "json", *files, text=text)
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def write(path: Path, lines: list[str], end: str = "\n") -> Path:
    path.write_text("".join(line + end for line in lines))
    return path


def test_analyze_prints_the_contract(tmp_path: Path) -> None:
    healthy, failed = write(tmp_path / "a.log", HEALTHY), write(tmp_path / "b.log", HEALTHY + CRASH)
    first, second = analyzed(healthy, failed)
    assert (first["file"], first["lines"], first["failure"]) == (str(healthy), 60, None)
    assert first["progress"]["step_time_s"] == pytest.approx(0.25)
    assert (first["progress"]["last_step"], first["progress"]["last_loss"]) == (60, pytest.approx(10 / 60, abs=1e-4))
    assert second["failure"]["error_type"] == "user_script"
    assert second["failure"]["root_line"] in range(61, 67)
    assert second["failure"]["restartable"] is False


def test_analyze_reads_compressed_logs_and_standard_input(tmp_path: Path) -> None:
    plain = "".join(line + "\n" for line in HEALTHY).encode()
    (tmp_path / "a.gz").write_bytes(gzip.compress(plain))
    (tmp_path / "a.zst").write_bytes(zstd.compress(plain))
    results = [*analyzed(tmp_path / "a.gz", tmp_path / "a.zst"), *analyzed(Path("-"), text=plain)]
    assert [result["progress"]["last_step"] for result in results] == [60, 60, 60]
    assert [result["lines"] for result in results] == [60, 60, 60]


def test_analyze_explains_itself_to_a_person(tmp_path: Path) -> None:
    done = schedmate("analyze", write(tmp_path / "b.log", HEALTHY + CRASH))
    shown = done.stdout.decode()
    assert "step 60" in shown
    assert "250 ms a step" in shown
    assert "IndexError: list index out of range" in shown


def test_a_missing_or_broken_file_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "broken.gz").write_bytes(gzip.compress(b"step 1 loss 2\n" * 1000)[:50])
    done = schedmate(
        "analyze", "--format", "json", tmp_path / "none.log", tmp_path / "broken.gz", write(tmp_path / "a.log", HEALTHY)
    )
    assert done.returncode == 2
    assert [json.loads(line)["lines"] for line in done.stdout.splitlines()] == [60]
    errors = done.stderr.decode()
    assert "none.log" in errors
    assert "broken.gz" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", 0),
        (b"\n", 1),
        (b"no newline", 1),
        (b"\x00\x00\x00\n\x00", 2),
        (b"\xff\xfe broken \xc3\n" * 3, 3),
        (b"x" * (10 << 20) + b"\nnext\n", 2),
        (b"\r".join(b"%d%%|####| %d/100 [00:01<00:02, 10.0it/s]" % (n, n) for n in range(1, 50)) + b"\n", 1),
        (b"a\r\nb\r\n", 2),
        ("ünïcödé — 训练\n".encode() * 2, 2),
    ],
    ids=["empty", "newline", "no-newline", "nul", "broken-utf8", "10MB-line", "bar", "crlf", "unicode"],
)
def test_any_bytes_are_read(tmp_path: Path, content: bytes, lines: int) -> None:
    file = tmp_path / "odd.log"
    file.write_bytes(content)
    (result,) = analyzed(file)
    assert (result["lines"], result["failure"]) == (lines, None)
    done = schedmate("classify", "--json", file)
    assert done.returncode == 0, done.stderr.decode()
    assert len(json.loads(done.stdout)["classes"]) == lines


def test_classify_gives_a_letter_a_line(tmp_path: Path) -> None:
    file = write(tmp_path / "a.log", ["loading data", *HEALTHY[:3], "UserWarning: lr is high", *CRASH])
    classes = json.loads(schedmate("classify", "--json", file).stdout)["classes"]
    assert classes[1:4] == "ppp"
    assert classes[4] == "w"
    assert set(classes[5:]) == {"e"}
    listed = schedmate("classify", file).stdout.decode().splitlines()
    assert listed[1] == f"p {HEALTHY[0]}"


def test_watch_follows_a_growing_file(tmp_path: Path) -> None:
    file = write(tmp_path / "live.log", HEALTHY[:30])
    process = subprocess.Popen(
        [sys.executable, "-m", "schedmate", "watch", "--every", "0", str(file)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        assert "step 30" in process.stdout.readline()
        with file.open("a") as log:
            log.writelines(line + "\n" for line in HEALTHY[30:])
        assert "step 60" in process.stdout.readline()
        with file.open("a") as log:
            log.writelines(line + "\n" for line in CRASH)
        deadline = time.monotonic() + 20
        while "IndexError" not in (line := process.stdout.readline()):
            assert time.monotonic() < deadline, line
        process.terminate()
        assert process.wait(20) == 0
    finally:
        process.kill()


def test_watch_ends_with_standard_input() -> None:
    done = schedmate("watch", "-", text="".join(line + "\n" for line in HEALTHY).encode())
    assert done.returncode == 0
    assert "step 60" in done.stdout.decode()
