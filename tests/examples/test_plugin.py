"""examples/plugin: a stage and a channel that another distribution installs."""

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from schedmate_records import BY_NAME, Alarm, EventKind, JobEvent, LogChunk, decode
from streams.kafka import KafkaProducer, read_back
from streams.transport import outgoing
from tests.examples.installed import command, install_example, run, run_tests
from tests.servers import free_port
from tests.servers.kafka import Kafka
from tests.waiting import until


def lines(first: int) -> list[str]:
    return [f"step {step} | loss {step} | step_time 0.2 s" for step in range(first, first + 200)]


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return install_example("plugin", tmp_path_factory.mktemp("example"))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "train.log"
    file.write_text("\n".join([*lines(1), *lines(201)]) + "\n")
    return file


def add_plugin(variables: Mapping[str, str], directory: Path, entry_points: str, code: str) -> Mapping[str, str]:
    """Install a distribution `another` with one module of that name, in addition to the example."""
    metadata = directory / "another-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: another\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(entry_points)
    (directory / "another.py").write_text(code)
    return {**variables, "PYTHONPATH": f"{directory}{os.pathsep}{variables['PYTHONPATH']}"}


def test_example_passes_its_tests(variables: Mapping[str, str]) -> None:
    assert "1 passed" in run_tests("plugin", variables)


def test_stage_uses_its_setting(variables: Mapping[str, str], log: Path) -> None:
    assert "above 100." in run(variables, "--set", "loss_limit.largest_loss=100", "analyze", log).stdout
    assert "above" not in run(variables, "analyze", log).stdout


def test_settings_of_stage_and_channel_are_shown_and_checked(variables: Mapping[str, str], log: Path) -> None:
    flags = ("--set", "loss_limit.largest_loss=100", "--set", "syslog.server=127.0.0.1:514")
    shown = run(variables, *flags, "config", "--changed", "--json").stdout
    assert "loss_limit.largest_loss" in shown
    assert "syslog.server" in shown
    for name in ("largest_loss=0", "largest=1"):
        done = run(variables, "--set", f"loss_limit.{name}", "analyze", log)
        assert done.returncode == 2
        assert done.stderr.startswith(f"schedmate: flag: loss_limit.{name.partition('=')[0]}: ")


BROKEN = """
import msgspec
from prometheus_client import Counter
from processors.stage import Stage

class State(msgspec.Struct):
    values: list = []

class Metrics:
    def __init__(self):
        self.over = Counter("schedmate_loss_limit_raised", "A name that is taken.", registry=None)

class Raises(Stage):
    name, state = "raises", State
    def metric_groups(self): return [Metrics()]
    def on_metric(self, metric, position, state): raise RuntimeError("of the stage")
    def on_event(self, event, position, state): yield "no record"

class Grows(Stage):
    name, state = "grows", State
    def on_chunk(self, chunk, position, state):
        state.values += ["x" * 100_000, object()]
        return ()

class Alarms(Stage):
    name, state = "alarms", State

class Stateless(Stage):
    name = "stateless"

class Topics(Stage):
    name, state, inputs = "topics", State, ("gpu-metrics",)

class Kafka(Stage):
    name, state = "kafka", State
"""
STAGES = {
    name: f"another:{name.capitalize()}" for name in ("raises", "grows", "alarms", "stateless", "topics", "kafka")
}
STAGES |= {"absent": "another:Absent", "unimportable": "no_such_module:X"}
ENTRIES = "\n".join(["[schedmate.stages]", *(f"{name} = {value}" for name, value in STAGES.items())])


def test_broken_stages_are_named_and_the_others_continue(
    variables: Mapping[str, str], log: Path, tmp_path: Path
) -> None:
    broken = add_plugin(
        variables, tmp_path / "another", f"{ENTRIES}\n[schedmate.channels]\nbad = no_such_module:X\n", BROKEN
    )
    done = run(broken, "--set", "loss_limit.largest_loss=100", "analyze", log)
    assert done.returncode == 0, done.stderr
    assert "above 100." in done.stdout
    for expected in (
        "of the stage",
        "expected another name of the stage alarms of another",
        "as the state of the stage stateless",
        "expected inputs of the stage topics",
        "a section [kafka]",
        "Absent",
        "no_such_module",
    ):
        assert expected in done.stderr
    assert done.stderr.count("RuntimeError: of the stage") == 1, "the first error is logged, and the others are counted"


@pytest.fixture
def site(own_kafka: Kafka, variables: Mapping[str, str], tmp_path: Path) -> Iterator["Site"]:
    site = Site(own_kafka, add_plugin(variables, tmp_path / "another", ENTRIES, BROKEN))
    yield site
    for process in site.running.values():
        process.kill()
        process.communicate()


class Site:
    """A broker, and commands that use it."""

    def __init__(self, kafka: Kafka, variables: Mapping[str, str]) -> None:
        self.kafka, self.port = kafka, free_port()
        self.variables = {
            **variables,
            "SCHEDMATE_KAFKA__BROKERS": kafka.address,
            "SCHEDMATE_LOSS_LIMIT__LARGEST_LOSS": "100",
        }
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *flags: str) -> None:
        self.running[name] = subprocess.Popen(
            command(*flags, name), env=self.variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def start_worker(self) -> None:
        self.start("worker", "--set", f"service.port={self.port}")

    def metrics(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as answer:
            return str(answer.read().decode())

    def count(self, topic: str) -> int:
        return len(list(read_back(self.kafka.connection, [topic])))

    def own_alarms(self) -> list[Alarm]:
        read = read_back(self.kafka.connection, ["alarms"])
        alarms = [decode(BY_NAME["alarms"].record, message.value) for message in read]
        return [each for each in alarms if isinstance(each, Alarm) and each.id.startswith("loss_limit")]


@pytest.mark.kafka
def test_worker_and_notify_use_stage_and_channel_and_keep_the_state(site: Site) -> None:
    producer = KafkaProducer(site.kafka.connection)

    def send(first: int) -> None:
        chunk = LogChunk(
            job="7", node="n1", producer="p", lines=lines(first), time=time.time(), first_line=first, first_piece=first
        )
        producer.send(outgoing(chunk)).result(30)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as syslog:
        syslog.bind(("127.0.0.1", 0))
        syslog.settimeout(90)
        site.start("notify", "--set", f"syslog.server=127.0.0.1:{syslog.getsockname()[1]}")
        site.start_worker()
        started = JobEvent(
            id="slurm/7", job="7", kind=EventKind.STARTED, time=time.time(), scheduler="slurm", user="ada"
        )
        producer.send(outgoing(started)).result(30)
        send(1)
        assert syslog.recv(2048) == b"<12>schedmate: Job 7: loss spike (ada)"
    assert "schedmate_loss_limit_raised_total 1.0" in site.metrics()
    assert 'schedmate_plugin_stage_errors_total{stage="raises"}' in site.metrics()
    site.running["worker"].terminate()
    site.running.pop("worker").communicate(timeout=60)
    site.start_worker()
    before = site.count("job-metrics")
    send(201)
    until(lambda: site.count("job-metrics") > before)
    assert len(site.own_alarms()) == 1, "the state of the attempt was kept"
    producer.close()
