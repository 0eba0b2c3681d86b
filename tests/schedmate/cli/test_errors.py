"""What a person can mend is one line on standard error and exit code 2."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from schedmate.service import service
from schedmate.settings import SettingsError, load
from tests.schedmate.forked import run_forked


def one_line(done: subprocess.CompletedProcess[bytes]) -> str:
    assert done.returncode == 2, done
    (line,) = done.stderr.decode().strip().splitlines()
    return line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "kafka.brokers", "config"], "without `=`"),
        (["--set", "redis.url=localhost:6379", "status"], "redis.url: expected redis://"),
        (["--set", "clickhouse.url=localhost:8123", "query", "failures"], "clickhouse.url: expected http://"),
        (["--set", "clickhouse.url=localhost:8123", "explain", "4711"], "clickhouse.url: expected http://"),
        (["--set", "language_model.servers=host:8000/v1", "models", "check"], "language_model.servers: expected"),
    ],
)
def test_a_setting_that_cannot_be(arguments: list[str], words: str) -> None:
    assert words in one_line(run_forked(*arguments))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["query", "thoughput"], "did you mean throughput?"),
        (["query", "throughput"], "query throughput needs job"),
        (["query", "throughput", "jb=7"], "got jb"),
        (["query", "throughput", "job=1", "hours=abc"], "expected a whole number from 0 on for hours (how far back"),
        (["query", "throughput", "job=1", "hours=-1"], "got '-1'"),
        (["query", "throughput", "job=1", "hours=4294967296"], "got '4294967296'"),
        (["query", "slower", "ratio=fast"], "expected a number for ratio ("),
    ],
)
def test_a_question_is_checked_before_a_server_is_asked(arguments: list[str], words: str) -> None:
    nobody = "clickhouse.url=http://default@127.0.0.1:1/schedmate"
    assert words in one_line(run_forked("--set", nobody, *arguments))


def test_a_log_that_cannot_be_read(tmp_path: Path) -> None:
    said = one_line(run_forked("analyze", str(tmp_path / "none.log")))
    assert said == f"schedmate: expected a readable log at {tmp_path / 'none.log'}: No such file or directory"
    assert f"Is a directory; name the files in it: {tmp_path}/*" in one_line(run_forked("analyze", str(tmp_path)))


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    (log := tmp_path / "train.log").write_text("step 1 loss 0.5\n")
    page = tmp_path / "none" / "runs.html"
    said = one_line(run_forked("analyze", "--html", str(page), str(log)))
    assert said == f"schedmate: expected to write {page}: No such file or directory"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "schedmate", "analyze", log],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert "expected to write all output: No space left on device" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert done.returncode


def test_an_option_before_a_subcommand_that_it_does_not_reach() -> None:
    done = run_forked("decisions", "--since", "1h", "waiting")
    assert done.returncode == 2
    assert b"options of `waiting` go behind it" in done.stderr


@pytest.mark.parametrize("embedder", ["flag", "onnx"])
def test_an_embedder_that_is_not_there(tmp_path: Path, embedder: str) -> None:
    (log := tmp_path / "train.log").write_text("step 1 loss 0.5\n")
    model = f"processors.embedder_model={tmp_path}"
    said = one_line(run_forked("--set", f"processors.embedder={embedder}", "--set", model, "analyze", str(log)))
    assert f"processors.embedder = {embedder}: " in said


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = load(flags={"service.port": str(port)}).settings
        with pytest.raises(SettingsError, match=f"service.port: .*:{port}"), service(settings, "test", signals=False):
            pass
