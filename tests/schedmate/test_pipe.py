"""`schedmate pipe` begins at once: it reads its settings as they are read everywhere, and loads little before the command runs."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from schedmate.pipe import main as pipe_main
from schedmate.pipe import read_settings
from schedmate.settings.settings import load
from streams.producers import collector_socket
from streams.producers.pipe_call import NUMBERS

from .forked import run_forked

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
    faults: list[str] = []
    directory, numbers, clusters, named = read_settings({"HOME": str(Path.home())}, faults)
    assert named == (producer.socket, False)
    assert directory == str(producer.directory)
    assert numbers == {name: getattr(producer, name) for name in NUMBERS}
    assert (clusters, faults) == ((), [])


def test_the_environment_goes_before_the_file_and_case_counts_for_nothing(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(
        '[producer]\ndirectory = "/var/spool/s"\nspool_mb = 7\nchunk_lines = 50\ngpu_seconds = 1\n[kafka]\nbrokers = "k:1"\n'
        '[slurm]\nclusters = ["beta"]\n'
    )
    faults: list[str] = []
    variables = {"schedmate_producer__spool_mb": "9", "SCHEDMATE_CONFIG": str(file)}
    expected = {**NUMBERS, "spool_mb": 9, "chunk_lines": 50}
    assert read_settings(variables, faults) == ("/var/spool/s", expected, ("beta",), ("", True))
    # The command line goes before both.
    del variables["SCHEDMATE_CONFIG"]
    flags = {"producer.spool_mb": "5", "producer.directory": "/d"}
    found = read_settings(variables, faults, str(file), flags)
    assert found == ("/d", {**expected, "spool_mb": 5}, ("beta",), ("", True))
    assert faults == []


class Naming(NamedTuple):
    """What names a socket or a broker, whether the usual socket exists, and the socket that a pipe then uses."""

    chosen: str | None
    file: str = ""
    environment: dict[str, str] = {}
    arguments: list[str] = []
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
        Naming(None, arguments=["--set", "kafka.brokers=k:1"]),
        Naming("/s", '[producer]\nsocket = "/s"\n[kafka]\nbrokers = "k:1"\n', exists=False),
        Naming("/t", '[producer]\nsocket = "/s"\n', {"SCHEDMATE_PRODUCER__SOCKET": "/t"}),
        Naming("/t", environment={"SCHEDMATE_SOCKET": "/t", "SCHEDMATE_KAFKA__BROKERS": "k:1"}),
        Naming("/u", '[producer]\nsocket = "/s"\n', {"SCHEDMATE_SOCKET": "/t"}, ["pipe", "--socket", "/u"]),
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
    for name, value in {"SCHEDMATE_CONFIG": str(tmp_path / "s.toml"), **naming.environment}.items():
        monkeypatch.setenv(name, value)
    chosen: list[str | None] = []
    monkeypatch.setattr("schedmate.pipe.run", lambda _command, ship: ship(None))
    monkeypatch.setattr("schedmate.pipe._ship", lambda _identity, _child, where, _source: chosen.append(where[2]))
    monkeypatch.setattr("schedmate.cli.main", lambda: None)
    arguments = naming.arguments if "pipe" in naming.arguments else [*naming.arguments, "pipe"]
    monkeypatch.setattr("sys.argv", ["schedmate", *arguments, "--job", "7"])
    pipe_main()
    assert chosen == [str(usual) if naming.chosen == USUAL else naming.chosen]


@pytest.mark.parametrize("value", ["", "x", "-1", "0", "1e99", "nan"])
def test_what_the_settings_would_refuse_has_its_default(value: str) -> None:
    faults: list[str] = []
    assert read_settings({"SCHEDMATE_PRODUCER__CHUNK_SECONDS": value}, faults)[1] == NUMBERS
    assert len(faults) == 1


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
def test_so_has_a_file_that_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "s.toml").write_text(content)
    faults: list[str] = []
    assert read_settings({"SCHEDMATE_CONFIG": str(tmp_path / "s.toml")}, faults)[1:3] == (NUMBERS, ())
    assert len(faults) == 1


def schedmate(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "schedmate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


def test_the_command_line_states_what_is_wrong_and_helps() -> None:
    assert b"--attempt" in run_forked("pipe", "--help", env={}).stdout
    assert "--attempt" in schedmate("pipe", "--help").stdout
    wrong = schedmate("pipe", "--jobb", "1", "true")
    assert wrong.returncode == 2
    assert "--jobb" in wrong.stderr


def test_a_command_runs_keeps_its_exit_code_and_what_cannot_be_shipped_waits(tmp_path: Path) -> None:
    made = schedmate(
        "pipe", "--job", "1", "--", "sh", "-c", "echo out; echo err >&2; exit 7",
        PATH="/usr/bin:/bin", SCHEDMATE_PRODUCER__DIRECTORY=str(tmp_path), SCHEDMATE_KAFKA__BROKERS="127.0.0.1:1",
        SCHEDMATE_PRODUCER__CLOSE_SECONDS="0",
    )  # fmt: skip
    assert (made.returncode, made.stdout) == (7, "out\n")
    assert made.stderr.startswith("err\n")
