"""`schedmate pipe` begins at once: it reads its settings as they are read everywhere, and loads little before the command runs."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from schedmate.cli.pipe import app as pipe_command
from schedmate.pipe import NUMBERS, read_settings
from schedmate.settings import load
from streams.producers import collector_socket
from tests.schedmate.forked import run_forked

HEAVY = ("pydantic", "msgspec", "typer", "rich", "kafka", "asyncio", "logging", "json", "pathlib", "tempfile")


def test_nothing_heavy_is_loaded_before_the_command_runs() -> None:
    program = f"import sys, schedmate.pipe; print([name for name in {HEAVY} if name in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


def test_the_defaults_are_those_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    producer = load().settings.producer
    directory, numbers, clusters, socket = read_settings({"HOME": str(Path.home())})
    assert socket is None
    assert directory == str(producer.directory)
    assert numbers == {name: getattr(producer, name) for name in NUMBERS}
    assert clusters == ()


def test_the_environment_goes_before_the_file_and_case_counts_for_nothing(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(
        '[producer]\ndirectory = "/var/spool/s"\nspool_mb = 7\nchunk_lines = 50\ngpu_seconds = 1\n[kafka]\nbrokers = "k:1"\n'
        '[slurm]\nclusters = ["beta"]\n'
    )
    found = read_settings({"SCHEDMATE_CONFIG": str(file), "schedmate_producer__spool_mb": "9"})
    assert found == ("/var/spool/s", {**NUMBERS, "spool_mb": 9, "chunk_lines": 50}, ("beta",), None)


class Naming(NamedTuple):
    """What names a socket or a broker, whether the usual socket exists, and the socket that a pipe then uses."""

    chosen: str | None
    file: str = ""
    environment: dict[str, str] = {}
    option: str | None = None
    exists: bool = True


USUAL = "the usual one"


@pytest.mark.parametrize(
    "naming",
    [
        Naming(USUAL),
        Naming(None, exists=False),
        Naming(None, '[kafka]\nbrokers = "k:1"\n'),
        Naming(USUAL, "[kafka]\nreplication = 3\n"),
        Naming(None, environment={"SCHEDMATE_KAFKA__BROKERS": "k:1"}),
        Naming("/s", '[producer]\nsocket = "/s"\n[kafka]\nbrokers = "k:1"\n', exists=False),
        Naming("/t", '[producer]\nsocket = "/s"\n', {"SCHEDMATE_PRODUCER__SOCKET": "/t"}),
        Naming("/t", environment={"SCHEDMATE_SOCKET": "/t", "SCHEDMATE_KAFKA__BROKERS": "k:1"}),
        Naming("/u", '[producer]\nsocket = "/s"\n', {"SCHEDMATE_SOCKET": "/t"}, "/u"),
    ],
)
def test_a_named_socket_comes_before_a_broker_and_a_broker_before_the_usual_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, naming: Naming
) -> None:
    usual = tmp_path / "collector.sock"
    monkeypatch.setattr(collector_socket, "DEFAULT_SOCKET", str(usual))
    if naming.exists:
        usual.touch()
    (tmp_path / "s.toml").write_text(naming.file)
    expected = str(usual) if naming.chosen == USUAL else naming.chosen
    variables = {"SCHEDMATE_CONFIG": str(tmp_path / "s.toml"), **naming.environment}
    assert read_settings(variables, naming.option)[-1] == expected
    # The command line reads all settings and makes the same choice.
    started: list[object] = []
    monkeypatch.setattr("schedmate.cli.pipe.start", lambda *_, **named: started.append(named["socket"]))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    arguments = ["--job", "7", *(["--socket", naming.option] if naming.option else [])]
    result = CliRunner().invoke(pipe_command, arguments, obj=load())
    assert result.exit_code == 0, result.output
    assert started == [expected]


@pytest.mark.parametrize("value", ["", "x", "-1", "0", "1e99", "nan"])
def test_what_the_settings_would_refuse_is_left_to_them(value: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_settings({"SCHEDMATE_PRODUCER__CHUNK_SECONDS": value})


@pytest.mark.parametrize(
    "content",
    [
        "[producer]\nspool_mb = []\n",
        "producer = 3\n",
        "[producer\n",
        "slurm = 3\n",
        "kafka = 3\n",
        "[producer]\nsocket = 3\n",
        "[slurm]\nclusters = 3\n",
    ],
)
def test_so_is_a_file_that_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "s.toml").write_text(content)
    with pytest.raises(ValueError, match=r"."):
        read_settings({"SCHEDMATE_CONFIG": str(tmp_path / "s.toml")})


def schedmate(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "schedmate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


def test_the_command_line_says_what_is_wrong_and_helps(tmp_path: Path) -> None:
    assert b"--attempt" in run_forked("pipe", "--help", env={}).stdout
    unknown = run_forked("pipe", "--", "true", env={})
    assert unknown.returncode == 2
    assert b"no job id" in unknown.stderr
    wrong = schedmate("pipe", "--job", "1", "--", "true", SCHEDMATE_PRODUCER__SPOOL_MB="many")
    assert wrong.returncode == 2
    assert "producer.spool_mb" in wrong.stderr


def test_a_command_runs_keeps_its_exit_code_and_what_cannot_be_shipped_waits(tmp_path: Path) -> None:
    made = schedmate(
        "pipe", "--job", "1", "--", "sh", "-c", "echo out; echo err >&2; exit 7",
        PATH="/usr/bin:/bin", SCHEDMATE_PRODUCER__DIRECTORY=str(tmp_path), SCHEDMATE_KAFKA__BROKERS="127.0.0.1:1",
        SCHEDMATE_PRODUCER__CLOSE_SECONDS="0",
    )  # fmt: skip
    assert (made.returncode, made.stdout) == (7, "out\n")
    assert made.stderr.startswith("err\n")
