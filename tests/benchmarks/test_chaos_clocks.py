"""Clocks that jump: what a process sees of it, and that nothing is lost by producers that live in the wrong hour."""

import os
import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE

import pytest

from benchmarks.chaos.clocks import Clocks
from streams.kafka import read_back
from tests.servers.kafka import Kafka

LOOK = """
import sys, time
for _ in sys.stdin:
    began = time.monotonic()
    time.sleep(0.05)
    print(round(time.time()), 0.05 <= time.monotonic() - began < 30, flush=True)
"""
DAY_S = 86400


def test_a_process_sees_its_wall_clock_jump_and_its_monotonic_clock_go_on(tmp_path: Path) -> None:
    clock = Clocks(tmp_path / "clocks").make("somebody")
    with subprocess.Popen(
        [sys.executable, "-c", LOOK], env={**os.environ, **clock.environment}, stdin=PIPE, stdout=PIPE, text=True
    ) as process:
        asked, answered = process.stdin, process.stdout
        assert asked is not None
        assert answered is not None

        def look() -> int:
            asked.write("\n")
            asked.flush()
            seen, monotonic = answered.readline().split()
            assert monotonic == "True"
            return int(seen)

        began = look()
        for shift in (3600, -3600, -DAY_S, 0):
            clock.shift(shift)
            assert 0 <= look() - began - shift < 60
        asked.close()


@pytest.mark.kafka
@pytest.mark.parametrize("shift", [DAY_S, -DAY_S])
def test_a_pipe_on_a_host_in_the_wrong_day_loses_nothing(shift: int, own_kafka: Kafka, tmp_path: Path) -> None:
    clock = Clocks(tmp_path / "clocks").make("pipe")
    clock.shift(shift)
    settings = {
        "SCHEDMATE_KAFKA__BROKERS": own_kafka.address,
        "SCHEDMATE_PRODUCER__DIRECTORY": str(tmp_path / "producer"),
        "SCHEDMATE_PRODUCER__CLOSE_SECONDS": "60",  # on a busy host the shipping process, at low priority, needs more than 5 s
    }
    line = [sys.executable, "-m", "schedmate", "pipe", "--job", "7", "--", "echo", "step 1 | loss 0.5"]
    subprocess.run(line, env={**os.environ, **settings, **clock.environment}, check=True, timeout=60)
    until = time.monotonic() + 120
    while not (arrived := list(read_back(own_kafka.connection, ["job-logs"]))) and time.monotonic() < until:
        time.sleep(0.2)  # what a short command has printed is shipped after its end
    (message,) = arrived
    assert b"step 1 | loss 0.5" in message.value
    assert abs(message.time - (tmp_path / "clocks").stat().st_mtime) < 120, "topics live by the brokers' clock"
