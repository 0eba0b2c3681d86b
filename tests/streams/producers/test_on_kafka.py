"""The real command line against a real broker."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from schedmate_records import EventKind, JobEvent, LogChunk, decode
from streams.kafka import read_back
from streams.producers.build_pyz import build
from tests.servers.kafka import Kafka, refusing

from .pipe_site import shipping_process
from .switchable import segments, wait_for
from .test_standalone_pipe import PYTHON

pytestmark = pytest.mark.kafka

SCHEDMATE = [sys.executable, "-m", "schedmate"]
COUNT = "import sys, time\nfor i in range(int(sys.argv[1])):\n    print('line', i, flush=True)\n    time.sleep(float(sys.argv[2]))"


class Host:
    """A host with a broker and a state directory of its own."""

    def __init__(self, broker: Kafka, state: Path) -> None:
        self.broker = broker
        self.env = {
            **os.environ,
            "XDG_STATE_HOME": str(state),
            "SCHEDMATE_KAFKA__BROKERS": broker.address,
            "SCHEDMATE_PRODUCER__HOLD_SECONDS": "120",
        }
        self.spool = state / "schedmate" / "spool"

    def start(self, *arguments: str, **pipes: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([*SCHEDMATE, *arguments], env=self.env, **pipes)  # type: ignore[call-overload,no-any-return]

    def run(self, *arguments: str, data: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        command = [*SCHEDMATE, *arguments]
        return subprocess.run(command, env=self.env, input=data, capture_output=True, timeout=300, check=False)

    def chunks(self, job: str) -> list[LogChunk]:
        messages = read_back(self.broker.connection, ["job-logs"])
        return [decode(LogChunk, m.value) for m in messages if m.key == job.encode()]

    def lines(self, job: str) -> list[str]:
        """What a reader keeps: repeats by number go; a number left out fails the test."""
        seen: dict[str, int] = {}
        lines: list[str] = []
        for chunk in self.chunks(job):
            last = seen.setdefault(chunk.producer, 0)
            assert chunk.first_piece <= last + 1
            lines += chunk.lines[last + 1 - chunk.first_piece :]
            seen[chunk.producer] = max(last, chunk.first_piece + len(chunk.lines) - 1)
        return lines

    def has(self, job: str, count: int) -> bool:
        return len(self.lines(job)) >= count


def numbered(count: int) -> list[str]:
    return [f"line {i}" for i in range(count)]


def test_the_pipe_ships_both_streams(kafka: Kafka, tmp_path: Path) -> None:
    host = Host(kafka, tmp_path)
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(9)"
    result = host.run("pipe", "--job", "pipe-1", "--rank", "2", "--node", "n7", "--", sys.executable, "-c", code)
    assert (result.returncode, result.stdout, result.stderr) == (9, b"out\n", b"err\n")
    found = {(c.stream, c.rank, c.node, *c.lines) for c in host.chunks("pipe-1")}
    assert found == {("stdout", 2, "n7", "out"), ("stderr", 2, "n7", "err")}


def test_the_pipe_tells_the_life_of_a_job_that_no_scheduler_knows(kafka: Kafka, tmp_path: Path) -> None:
    host = Host(kafka, tmp_path)
    host.run("pipe", "--job", "life-1", "--node", "n7", "--", "sh", "-c", "exit 3")
    host.run("pipe", "--job", "life-2", "--node", "n7", "--rank", "0", "--", "sh", "-c", "exit 3")
    messages = read_back(kafka.connection, ["pipe-events"])
    events = [decode(JobEvent, m.value) for m in messages if m.key in (b"life-1", b"life-2")]
    found = [
        (event.job, event.kind, event.rank, event.exit_code) for event in sorted(events, key=lambda event: event.job)
    ]
    assert found == [
        ("life-1", EventKind.STARTED, None, None),
        ("life-1", EventKind.ENDED, None, 3),
        ("life-2", EventKind.RANK_STARTED, 0, None),
        ("life-2", EventKind.RANK_ENDED, 0, 3),
    ]
    assert {event.command for event in events} == {"sh -c 'exit 3'"}


def test_the_filter_ships_a_hundred_thousand_lines(kafka: Kafka, tmp_path: Path) -> None:
    host = Host(kafka, tmp_path)
    data = "".join(f"line {i}\n" for i in range(100_000)).encode()
    result = host.run("pipe", "--job", "pipe-2", data=data)
    assert (result.returncode, result.stdout) == (0, data)
    if result.stderr:  # a slow machine: the next pipe sends the rest
        with host.start("pipe", "--job", "x", stdin=subprocess.PIPE) as other:
            wait_for(lambda: host.has("pipe-2", 100_000))
            other.communicate()
    wait_for(
        lambda: host.has("pipe-2", 100_000)
    )  # what it left in the background, with the lowest priority, takes its time
    assert host.lines("pipe-2") == numbered(100_000)


def test_a_pipe_hands_its_lines_to_the_collector_of_its_node(kafka: Kafka, tmp_path: Path) -> None:
    """The pipe has no way to Kafka of its own: no broker is at its default address."""
    host = Host(kafka, tmp_path / "state")
    address = str(tmp_path / "collector.sock")
    with host.start("collect", "--socket", address, "--trust-owner", str(os.geteuid())) as collector:
        wait_for(Path(address).exists)
        host.env |= {"SCHEDMATE_KAFKA__BROKERS": "127.0.0.1:1", "SCHEDMATE_SOCKET": address}
        code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(9)"
        log = str(tmp_path / "log")
        result = host.run("pipe", "--job", "by-collector", "--log", log, "--", sys.executable, "-c", code)
        assert (result.returncode, result.stdout, result.stderr) == (9, b"out\n", b"err\n")
        assert {(chunk.stream, *chunk.lines) for chunk in host.chunks("by-collector")} == {
            ("stdout", "out"),
            ("stderr", "err"),
        }
        assert "Traceback" not in Path(log).read_text()
        collector.terminate()
    result = host.run("--set", "producer.close_seconds=0.1", "pipe", "--job", "by-collector", data=b"later\n")
    assert b"the collector was away or slow: 1 line kept" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL], ids=["stopped", "killed"])
@pytest.mark.parametrize("spool_mb", ["1", "512"])
def test_each_line_arrives_or_is_counted_whatever_becomes_of_the_shipping_process(
    kafka: Kafka, tmp_path: Path, number: signal.Signals, spool_mb: str
) -> None:
    host = Host(kafka, tmp_path)
    host.env |= {"SCHEDMATE_PRODUCER__SPOOL_MB": spool_mb, "SCHEDMATE_PRODUCER__HOLD_SECONDS": "0.02"}
    job = f"stands-{number.name}-{spool_mb}"
    code = "import sys\nfor i in range(100_000): sys.stdout.write(f'line {i}\\n')\nsys.stdout.flush()\nsys.stdin.read()"
    with host.start(
        "pipe", "--job", job, "--", sys.executable, "-c", code, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(50_000)]
        wait_for(lambda: Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().count(" ") == 2)
        if number is signal.SIGKILL:
            wait_for(lambda: host.has(job, 1))
        shipping = shipping_process(process.pid, b"schedmate")
        wait_for(lambda: Path(f"/proc/{shipping}/fd/1").readlink() == Path(os.devnull))  # it has let go of the job's
        os.kill(shipping, number)
        lines += [process.stdout.readline() for _ in range(50_000)]
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(120) == 0
    assert lines[-1] == b"line 99999\n"
    if number is signal.SIGSTOP:
        os.kill(shipping, signal.SIGCONT)
    with host.start("pipe", "--job", "other", stdin=subprocess.PIPE) as other:
        # The other pipe looks for what is left every 30 seconds.
        wait_for(lambda: not any(f"-{process.pid}-" in path.name for path in host.spool.iterdir()), 120)
        assert other.stdin
        other.stdin.close()
    wait_for(lambda: not list(host.spool.iterdir()))
    arrived: dict[int, str] = {}
    for chunk in host.chunks(job):
        for piece, line in enumerate(chunk.lines, chunk.first_piece):
            assert arrived.setdefault(piece, line) == line
    events = [decode(JobEvent, m.value) for m in read_back(kafka.connection, ["pipe-events"]) if m.key == job.encode()]
    lost = sum({event.id: event.lines for event in events if event.kind == EventKind.LINES_LOST}.values())
    printed = set(numbered(100_000))
    whole = sum(line in printed for line in arrived.values())
    assert len(arrived) + lost - 100_000 in range(len(arrived) - whole + 1)
    if spool_mb == "512":
        assert (whole, lost) == (100_000, 0)


def test_a_pipe_started_before_the_broker(own_kafka: Kafka, tmp_path: Path) -> None:
    host = Host(own_kafka, tmp_path / "state")
    own_kafka.kill()
    first = host.run("--set", "producer.close_seconds=0.1", "pipe", "--job", "1", data=b"too early\n")
    assert first.stdout == b"too early\n"
    assert b"1 line kept in" in first.stderr
    go = tmp_path / "go"
    code = (
        "import pathlib, sys, time\nfor i in range(800):\n    print('line', i, flush=True)\n"
        "    while i == 400 and not pathlib.Path(sys.argv[1]).exists():\n        time.sleep(0.05)"
    )
    with host.start(
        "pipe", "--job", "2", "--", sys.executable, "-c", code, str(go), stdout=subprocess.DEVNULL
    ) as process:
        wait_for(lambda: len(segments(host.spool)) == 2)
        own_kafka.start()
        wait_for(lambda: host.has("2", 400) and host.has("1", 1), 60)
        go.touch()
        assert process.wait(120) == 0
    assert host.lines("2") == numbered(800)
    assert host.lines("1") == ["too early"]
    assert not segments(host.spool)


@pytest.mark.slow
def test_a_broker_killed_in_the_middle(own_kafka: Kafka, tmp_path: Path) -> None:
    host = Host(own_kafka, tmp_path / "state")
    command = ["pipe", "--job", "3", "--", sys.executable, "-c", COUNT, "500", "0.01"]
    with host.start("--set", "producer.close_seconds=30", *command, stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: host.has("3", 100))
        own_kafka.kill()
        wait_for(lambda: segments(host.spool))
        own_kafka.start()
        assert process.wait(120) == 0
    wait_for(lambda: host.has("3", 500), 60)
    assert host.lines("3") == numbered(500)


@pytest.mark.slow
def test_the_collector_survives_kill_and_an_absent_broker(own_kafka: Kafka, tmp_path: Path) -> None:
    host = Host(own_kafka, tmp_path / "state")
    logs = tmp_path / "jobs"
    logs.mkdir()
    command = ["collect", str(logs / "*")]
    with (logs / "slurm-4.out").open("w", buffering=1) as out:
        with host.start(*command) as collector:
            out.writelines(f"line {i}\n" for i in range(3000))
            wait_for(lambda: host.has("4", 1000))
            collector.send_signal(signal.SIGKILL)
        own_kafka.kill()
        with refusing(own_kafka.address) as tries:
            collector = host.start(*command)
            out.writelines(f"line {i}\n" for i in range(3000, 5000))
            wait_for(lambda: tries)
        with collector:
            own_kafka.start()
            wait_for(lambda: host.has("4", 5000), 60)
            collector.send_signal(signal.SIGTERM)
            assert collector.wait(120) == 0
        with host.start(*command) as collector:
            out.write("line 5000\n")
            wait_for(lambda: host.has("4", 5001))
            collector.send_signal(signal.SIGTERM)
    assert host.lines("4") == numbered(5001)
    assert len({chunk.producer for chunk in host.chunks("4")}) == 1
    places = json.loads((tmp_path / "state" / "schedmate" / "collect.json").read_text())["logs"]
    assert places[str(logs / "slurm-4.out")]["line"] == 5002


@pytest.mark.slow
def test_an_outage_is_one_line_and_a_healthy_start_logs_no_error(own_kafka: Kafka, tmp_path: Path) -> None:
    host = Host(own_kafka, tmp_path / "state")
    file, log = tmp_path / "slurm-5.out", tmp_path / "log"
    file.write_text("line 0\n")

    def log_events() -> list[dict[str, str]]:
        return [json.loads(line) for line in log.read_text().splitlines()]

    def away() -> list[dict[str, str]]:
        return [entry for entry in log_events() if entry["event"] == "broker_away"]

    with log.open("wb") as out, host.start("collect", str(file), stderr=out) as collector:
        wait_for(lambda: host.has("5", 1))
        assert [entry for entry in log_events() if entry["level"] != "info"] == []
        own_kafka.kill()
        with refusing(own_kafka.address) as tries, file.open("a") as more:
            more.write("line 1\n")
            more.flush()
            wait_for(lambda: away() and len(tries) > 3, 60)
        own_kafka.start()
        wait_for(lambda: host.has("5", 2), 60)
        collector.send_signal(signal.SIGTERM)
        assert collector.wait(120) == 0
    assert [entry["event"] for entry in log_events() if entry["level"] != "info"] == [away()[0]["event"]]


def test_a_pattern_that_names_no_job_is_one_clear_error(tmp_path: Path) -> None:
    result = subprocess.run(
        [*SCHEDMATE, "collect", "--pattern", "(x)", str(tmp_path / "*")],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 2
    assert b"expected a group (?P<job>" in result.stderr
    assert b"Traceback" not in result.stderr


@pytest.mark.slow
def test_the_collector_takes_in_pipes_over_kill_and_an_absent_broker(own_kafka: Kafka, tmp_path: Path) -> None:
    host = Host(own_kafka, tmp_path / "state")
    pyz, address = tmp_path / "schedmate-pipe.pyz", str(tmp_path / "collector.sock")
    build(pyz)
    collect = ["collect", "--socket", address, "--trust-owner", "root", "--trust-owner", str(os.geteuid())]
    pipe = [*PYTHON, str(pyz), "--job", "6", "--socket", address, "--", sys.executable, "-c", COUNT, "3000", "0.003"]
    collector = host.start(*collect)
    try:
        with subprocess.Popen(pipe, env=host.env, stdout=subprocess.DEVNULL) as process:
            wait_for(lambda: host.has("6", 200), 60)
            collector.kill()
            collector.wait()
            own_kafka.kill()
            collector = host.start(*collect)
            wait_for(lambda: (tmp_path / "collector.sock").exists() and segments(host.spool), 60)
            own_kafka.start()
            assert process.wait(120) == 0
        if segments(host.spool):
            subprocess.run([*pipe[: pipe.index("--")], "--", "true"], env=host.env, check=True)
        wait_for(lambda: host.has("6", 3000), 60)
    finally:
        collector.send_signal(signal.SIGTERM)
        assert collector.wait(120) == 0
    assert host.lines("6") == numbered(3000)
