"""examples/scheduler: a scheduler that another distribution installs, used by its name."""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from schedmate_records import BY_NAME, DecisionResult, JobEvent, Outcome, decode
from streams.kafka import KafkaProducer, read_back
from streams.transport import outgoing
from tests.examples.installed import command, install_example, run, run_tests
from tests.scheduler_bridge.findings import failure
from tests.servers.kafka import Kafka
from tests.waiting import until

FAILED = {"state": "failed", "nodes": ["n1"], "user": "ada", "exit_code": 1}


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Variables of a process that finds the example installed."""
    return install_example("scheduler", tmp_path_factory.mktemp("example"))


def test_example_passes_the_tests_that_hold_for_every_actuator(variables: Mapping[str, str]) -> None:
    assert "4 passed" in run_tests("scheduler", variables)


def test_section_of_an_installed_scheduler_is_read_from_every_layer(
    variables: Mapping[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[bridge]\nscheduler = "directory"\n[directory]\npath = "/from/file"\n')
    shown = run(variables, "--config", file, "config", "--changed", "--json")
    assert "/from/file" in shown.stdout, shown.stderr
    given = {**variables, "SCHEDMATE_DIRECTORY__PATH": "/from/variable"}
    assert "/from/variable" in run(given, "--config", file, "config", "--changed", "--json").stdout
    flags = ("--config", file, "--set", "directory.path=/from/flag")
    assert "/from/flag" in run(given, *flags, "config", "--changed", "--json").stdout


def test_unknown_name_in_the_section_of_a_scheduler_is_refused(variables: Mapping[str, str]) -> None:
    done = run(variables, "--set", "bridge.scheduler=directory", "--set", "directory.pfad=/x", "config")
    assert done.returncode == 2
    assert done.stderr.startswith("schedmate: flag: directory.pfad: ")
    assert done.stderr.count("\n") == 1


def test_watch_scheduler_lists_an_installed_scheduler(variables: Mapping[str, str]) -> None:
    assert "directory" in run(variables, "watch-scheduler", "--help").stdout
    assert "files of jobs" in run(variables, "watch-scheduler", "directory", "--help").stdout


class Site:
    """A directory of jobs, a broker, and commands that use both."""

    def __init__(self, kafka: Kafka, variables: Mapping[str, str], directory: Path) -> None:
        self.jobs = directory / "jobs"
        self.jobs.mkdir()
        self.kafka = kafka
        self.variables = {
            **variables,
            "SCHEDMATE_KAFKA__BROKERS": kafka.address,
            "SCHEDMATE_PRODUCER__DIRECTORY": str(directory / "state"),
            "SCHEDMATE_BRIDGE__SCHEDULER": "directory",
            "SCHEDMATE_BRIDGE__MODES": "restart=act",
            "SCHEDMATE_DIRECTORY__PATH": str(self.jobs),
        }
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str) -> None:
        process = subprocess.Popen(
            command(*arguments), env=self.variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.running.append(process)

    def read(self, topic: str) -> list[Any]:
        return [decode(BY_NAME[topic].record, message.value) for message in read_back(self.kafka.connection, [topic])]

    def write_job(self, name: str, **content: object) -> None:
        (self.jobs / f"{name}.json").write_text(json.dumps(content))

    def job(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.jobs / f"{name}.json").read_text())
        return found


@pytest.fixture
def site(own_kafka: Kafka, variables: Mapping[str, str], tmp_path: Path) -> Iterator[Site]:
    site = Site(own_kafka, variables, tmp_path)
    yield site
    for process in site.running:
        process.kill()
        process.communicate()


@pytest.mark.kafka
def test_bridge_and_watcher_use_the_scheduler_by_its_name(site: Site) -> None:
    site.write_job("train-1", **FAILED)
    site.start("bridge")
    site.start("watch-scheduler", "directory", "--interval", "0.2")
    producer = KafkaProducer(site.kafka.connection)
    for job in ("train-1", "../train-1"):
        producer.send(outgoing(failure(job=job, node="n1", time=time.time()))).result(30)
    producer.close()

    def results() -> list[Outcome]:
        read = site.read("decision-results")
        return [each.outcome for each in read if isinstance(each, DecisionResult) and each.job == "train-1"]

    until(lambda: Outcome.DONE in results())
    queued = site.job("train-1")
    assert (queued["state"], queued["attempt"], queued["excluded"]) == ("pending", 1, ["n1"])
    assert {each.actuator for each in site.read("decision-results") if each.job == "train-1"} == {"directory"}

    def kinds() -> list[str]:
        return [str(each.kind) for each in site.read("job-events") if isinstance(each, JobEvent)]

    until(lambda: "requeued" in kinds())
