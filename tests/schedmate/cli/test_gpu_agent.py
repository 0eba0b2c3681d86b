"""The command as a person starts it."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from socket import socket

import pytest

from tests.schedmate.forked import run_forked

COMMAND = [sys.executable, "-c", "from schedmate.cli import main; main()"]
REPLAY = ["gpu-agent", "--replay", "shipped", "--loop", "--interval", "0.05"]


@pytest.fixture
def no_driver(tmp_path: Path) -> dict[str, str]:
    """An environment in which NVML cannot be loaded, also on a machine that has it."""
    (tmp_path / "libnvidia-ml.so.1").write_text("not a library")
    return {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "SCHEDMATE_CONFIG": "/dev/null"}


@pytest.fixture
def running(no_driver: dict[str, str]) -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def start(running: list[subprocess.Popen[str]], env: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    running.append(subprocess.Popen([*COMMAND, *arguments], env=env, stdout=pipe, stderr=pipe, text=True))
    return running[-1]


def test_a_replay_prints_samples_records_them_and_ends_well_on_a_signal(
    running: list[subprocess.Popen[str]], no_driver: dict[str, str], tmp_path: Path
) -> None:
    recording = tmp_path / "again.jsonl"
    agent = start(running, no_driver, *REPLAY, "--node", "n7", "--stdout", "--record", str(recording))
    assert agent.stdout is not None
    samples = [json.loads(agent.stdout.readline()) for _ in range(4)]
    agent.send_signal(signal.SIGTERM)
    _, log = agent.communicate(timeout=30)
    assert agent.returncode == 0
    assert [(sample["node"], sample["gpu"], sample["recorded"]) for sample in samples] == [
        ("n7", gpu, True) for gpu in range(4)
    ]
    assert "no GPU was measured" in log
    header, *lines = recording.read_text().splitlines()
    assert json.loads(header)["made_up"] is True
    assert [json.loads(line) for line in lines[:4]] == samples


def test_without_a_broker_it_goes_on_counts_and_is_healthy(
    running: list[subprocess.Popen[str]], no_driver: dict[str, str]
) -> None:
    with socket() as free, socket() as nobody:
        free.bind(("127.0.0.1", 0))
        nobody.bind(("127.0.0.1", 0))
        port, broker = free.getsockname()[1], nobody.getsockname()[1]
    settings = ("--set", f"kafka.brokers=127.0.0.1:{broker}", "--set", f"service.port={port}")
    settings += ("--set", "producer.close_seconds=0.1")
    agent = start(running, no_driver, *settings, *REPLAY)
    assert agent.stderr is not None
    while "metrics_served" not in (line := agent.stderr.readline()):
        assert line, "ended before it served"
    while "replaying" not in (line := agent.stderr.readline()):
        assert line, "ended before it sampled"
    while "schedmate_shipping_waiting 0.0" in (text := _get(port, "metrics")) or "shipping" not in text:
        assert agent.poll() is None
    assert "schedmate_shipping_acknowledged_total 0.0" in text
    assert json.loads(_get(port, "health"))["healthy"]
    agent.send_signal(signal.SIGTERM)
    assert agent.wait(timeout=30) == 0


def _get(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "--replay FILE"),
        (["--loop"], "--replay FILE"),
        (["--replay", "/nowhere.jsonl"], "/nowhere.jsonl"),
        (["--replay", "shipped", "--record", "/dev/null"], "not there yet"),
        (["--interval", "0"], "interval"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(no_driver: dict[str, str], arguments: list[str], says: str) -> None:
    done = run_forked("gpu-agent", *arguments, env=no_driver)
    assert done.returncode == 2
    assert says in done.stderr.decode()
    assert b"Traceback" not in done.stderr
