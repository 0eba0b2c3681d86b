"""`watch-scheduler`, `bridge` and `decisions` as a person starts them, between a real Kafka and a real Slurm."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from records import BY_NAME, Decision, DecisionResult, Failure, JobEvent, Outcome, Record, decode
from streams.kafka import KafkaProducer, read_back
from streams.transport import outgoing
from tests.scheduler_bridge.findings import failure, slowdown
from tests.servers.kafka import Kafka
from tests.servers.slurm import Slurm

COMMAND = [sys.executable, "-c", "from schedmate.cli import main; main()"]

pytestmark = [pytest.mark.kafka, pytest.mark.slurm]


class Site:
    """A cluster with a broker, and the commands that run there."""

    def __init__(self, kafka: Kafka, slurm: Slurm, state: Path) -> None:
        self.kafka = kafka
        self.slurm = slurm
        self.environment = slurm.environment | {
            "SCHEDMATE_CONFIG": os.devnull,
            "SCHEDMATE_KAFKA__BROKERS": kafka.address,
            "SCHEDMATE_KAFKA__SESSION_TIMEOUT_S": "3",
            "SCHEDMATE_PRODUCER__DIRECTORY": str(state),
            "SCHEDMATE_BRIDGE__MODES": "restart=act,cancel_packing=act",
        }
        self.running: list[subprocess.Popen[str]] = []
        self.producer = KafkaProducer(kafka.connection)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*COMMAND, *arguments], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.running.append(process)
        return process

    def say(self, *arguments: str) -> str:
        done = subprocess.run([*COMMAND, *arguments], env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tell(self, record: Record) -> None:
        self.producer.send(outgoing(record)).result(10)

    def read(self, topic: str) -> list[Any]:
        return [decode(BY_NAME[topic].record, message.value) for message in read_back(self.kafka.connection, [topic])]

    def results(self, job: str) -> list[Outcome]:
        return [r.outcome for r in self.read("decision-results") if isinstance(r, DecisionResult) and r.job == job]

    def until(self, what: Callable[[], Any], seconds: float = 40) -> Any:
        deadline = time.monotonic() + seconds
        while not (found := what()):
            assert time.monotonic() < deadline, "it did not come"
            time.sleep(0.1)
        return found


@pytest.fixture
def site(own_kafka: Kafka, slurm: Slurm, tmp_path: Path) -> Iterator[Site]:
    site = Site(own_kafka, slurm, tmp_path / "state")
    yield site
    for process in site.running:
        process.kill()
        process.communicate()
    site.producer.close()


def verdict(job: str, node: str, **changes: Any) -> Failure:
    return failure(job=job, node=node, time=time.time(), **changes)


def test_from_finding_to_action_and_once_across_a_kill(site: Site) -> None:
    slurm = site.slurm
    watcher, bridge = site.start("watch-scheduler", "slurm", "--interval", "0.2"), site.start("bridge")
    job = slurm.submit('test -n "$SLURM_RESTART_COUNT"')
    node = slurm.wait(job, "FAILED")["NodeList"]
    finding = verdict(job, node)
    site.tell(finding)
    site.until(lambda: Outcome.DONE in site.results(job))
    assert slurm.wait(job, "COMPLETED")["NodeList"] != node

    first = slurm.submit("sleep 120", "--gres=shard:2", "--nodelist=n1")
    slurm.wait(first, "RUNNING")
    packed = slurm.submit("sleep 120", "--gres=shard:2", "--nodelist=n1")
    slurm.wait(packed, "RUNNING")
    site.tell(slowdown(job=first, packed_job=packed, time=time.time()))
    site.until(lambda: Outcome.DONE in site.results(packed))
    assert slurm.wait(packed, "RUNNING")["TresPerNode"] == "gres:shard:4"

    bridge.kill()
    bridge.wait()
    site.tell(finding)
    for decision in site.read("decisions"):
        site.tell(decision)
    broken = slurm.submit("exit 1")
    slurm.wait(broken, "FAILED")
    bridge = site.start("bridge")
    site.tell(verdict(broken, "n1", confidence=0.5))
    site.tell(verdict(broken, "n1", revision=2))
    site.until(lambda: Outcome.DONE in site.results(broken))
    assert site.results(job) == [Outcome.STARTED, Outcome.DONE]
    assert site.results(packed) == [Outcome.STARTED, Outcome.DONE]
    assert [slurm.fields(name)["Restarts"] for name in (job, packed)] == ["1", "1"]

    kinds = [event.kind for event in site.read("job-events") if isinstance(event, JobEvent) and event.job == job]
    assert kinds == ["submitted", "started", "ended", "requeued", "started", "ended"]
    shown = [json.loads(line) for line in site.say("decisions", "--json", "--job", job).splitlines()]
    assert {record.get("outcome", "decision") for record in shown} == {"decision", "started", "done"}
    assert "restart" in site.say("decisions", "--job", job)
    follower = site.start("decisions", "--follow", "--job", broken)
    assert follower.stdout
    assert "ACT" in follower.stdout.readline()
    for process in (watcher, bridge):
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    slurm.run("scancel", first, packed, broken)


def test_nothing_is_done_where_nothing_is_turned_on(site: Site) -> None:
    site.environment["SCHEDMATE_BRIDGE__MODES"] = ""
    site.start("bridge")
    job = site.slurm.submit("exit 1")
    node = site.slurm.wait(job, "FAILED")["NodeList"]
    site.tell(verdict(job, node))
    site.until(lambda: site.results(job))
    assert site.results(job) == [Outcome.SHADOWED]
    assert [decision.mode for decision in site.read("decisions") if isinstance(decision, Decision)] == ["shadow"]
    assert site.slurm.fields(job)["Restarts"] == "0"


def test_what_is_over_a_users_share_waits_and_says_so(site: Site) -> None:
    site.environment["SCHEDMATE_BRIDGE__ACTIONS_PER_HOUR"] = "4"  # of which a user has a quarter: one
    site.start("bridge")
    jobs = [site.slurm.submit('test -n "$SLURM_RESTART_COUNT"') for _ in range(3)]
    for job in jobs:
        site.tell(verdict(job, site.slurm.wait(job, "FAILED")["NodeList"]))
    site.until(lambda: all(site.results(job) for job in jobs[1:]) and Outcome.DONE in site.results(jobs[0]))
    assert [site.results(job) for job in jobs[1:]] == [[Outcome.DEFERRED]] * 2
    results = [one for one in site.read("decision-results") if isinstance(one, DecisionResult)]
    assert {one.user for one in results} == {site.slurm.fields(jobs[0])["UserId"].partition("(")[0]}
    assert {one.node for one in results} == {""}, "nothing but the job spoke against the node"
    assert "user-limit" in site.say("decisions", "--job", jobs[1])
    assert [site.slurm.fields(job)["Restarts"] for job in jobs] == ["1", "0", "0"]
