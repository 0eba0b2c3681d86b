"""What a person can mend is one line on standard error and exit code 2."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from schedmate.services.service import service
from schedmate.settings.settings import SettingsError, load
from tests.schedmate.forked import run_forked, run_on


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


def test_a_server_that_is_away_is_one_line() -> None:
    done = run_forked("--set", "clickhouse.url=http://default@127.0.0.1:1/schedmate", "migrate")
    assert one_line(done).startswith("schedmate: opening ClickHouse: nothing listens at 127.0.0.1:1")
    assert not done.stdout


def test_an_outage_is_logged_on_standard_error() -> None:
    away = "clickhouse.url=http://default@127.0.0.1:1/schedmate"
    done = run_forked("--set", away, "migrate", "--wait", "0.5")
    assert done.returncode == 2
    assert b"dependency_unavailable" in done.stderr
    assert not done.stdout


def test_a_log_that_cannot_be_read(tmp_path: Path) -> None:
    said = one_line(run_forked("analyze", str(tmp_path / "none.log")))
    assert said == f"schedmate: expected a readable log at {tmp_path / 'none.log'}: No such file or directory"
    assert f"Is a directory; name the files in it: {tmp_path}/*" in one_line(run_forked("analyze", str(tmp_path)))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["analyse", "x"], "no command 'analyse'; did you mean analyze?"),
        (["foo"], "no command 'foo'; see `schedmate --help`"),
        (["signatures", "lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["--bar", "config"], "No such option: --bar; see `schedmate --help`"),
        (["analyze"], "Missing argument 'FILES...'; see `schedmate analyze --help`"),
        (
            ["analyze", "--format", "xml", "x"],
            "Invalid value for '--format': 'xml' is not one of 'table', 'json', 'csv', 'html'; see `schedmate analyze --help`",
        ),
    ],
)
def test_a_command_that_is_not_understood(arguments: list[str], said: str) -> None:
    assert one_line(run_forked(*arguments)) == f"schedmate: {said}"


@pytest.mark.parametrize("arguments", [[], ["signatures"]])
def test_a_command_without_what_it_needs_shows_its_help(arguments: list[str]) -> None:
    done = run_forked(*arguments)
    assert b"Commands" in done.stdout + done.stderr
    assert b"schedmate: " not in done.stderr


def test_who_asks_to_explain_a_file_hears_what_reads_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nobody = ("--set", "clickhouse.url=http://default@127.0.0.1:1/schedmate", "explain")
    (tmp_path / "my train.log").write_text("step 1 loss 0.5\n")
    said = one_line(run_forked(*nobody, "my train.log"))
    assert said.startswith(
        "schedmate: for a log: schedmate analyze 'my train.log'; for a job: opening ClickHouse: nothing listens"
    )
    for job in ("4711", "7" * 5000):
        assert one_line(run_forked(*nobody, job)).startswith("schedmate: opening ClickHouse: nothing listens")


@pytest.mark.parametrize(
    "arguments",
    [
        ["classify", "LOG"],
        ["analyze", "LOG"],
        ["config"],
        ["signatures", "list"],
        ["signatures", "list", "--json"],
        ["signatures", "list", "--csv"],
    ],
    ids=" ".join,
)
def test_a_reader_who_has_seen_enough(tmp_path: Path, arguments: list[str]) -> None:
    (log := tmp_path / "train.log").write_text("step 1 loss 0.5\n" * 1000)
    reading, writing = os.pipe()
    os.close(reading)
    with (tmp_path / "errors").open("w+") as errors:
        streams = (errors.fileno(), writing, errors.fileno())
        code = run_on(streams, *(str(log) if each == "LOG" else each for each in arguments))
        os.close(writing)
        errors.seek(0)
        assert (code, errors.read()) == (0, "")


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
