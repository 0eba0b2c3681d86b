"""`watch-scheduler`, `bridge` and `decisions` as a person starts them, between a real Kafka and a real Slurm."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedmate_records import BY_NAME, Command, Decision, DecisionResult, Failure, JobEvent, Outcome, Record, decode
from streams.kafka import KafkaProducer, read_back
from streams.transport import outgoing
from tests.scheduler_bridge.findings import failure, slowdown
from tests.scheduler_bridge.test_people import command
from tests.servers import free_port
from tests.servers.kafka import Kafka
from tests.servers.slurm import Slurm
from tests.waiting import until

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

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*COMMAND, *arguments], env=self.environment, capture_output=True, text=True, check=False)

    def output_of(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, record: Record) -> None:
        self.producer.send(outgoing(record)).result(10)

    def read(self, topic: str) -> list[Any]:
        return [decode(BY_NAME[topic].record, message.value) for message in read_back(self.kafka.connection, [topic])]

    def results(self, job: str) -> list[Outcome]:
        return [r.outcome for r in self.read("decision-results") if isinstance(r, DecisionResult) and r.job == job]


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
    site.write(finding)
    until(lambda: Outcome.DONE in site.results(job))
    assert slurm.wait(job, "COMPLETED")["NodeList"] != node

    first = slurm.submit("sleep 120", "--gres=shard:2", "--nodelist=n1")
    slurm.wait(first, "RUNNING")
    packed = slurm.submit("sleep 120", "--gres=shard:2", "--nodelist=n1")
    slurm.wait(packed, "RUNNING")
    site.write(slowdown(job=first, packed_job=packed, time=time.time()))
    until(lambda: Outcome.DONE in site.results(packed))
    assert slurm.wait(packed, "RUNNING")["TresPerNode"] == "gres:shard:4"

    bridge.kill()
    bridge.wait()
    site.write(finding)
    for decision in site.read("decisions"):
        site.write(decision)
    broken = slurm.submit("exit 1")
    slurm.wait(broken, "FAILED")
    bridge = site.start("bridge")
    site.write(verdict(broken, "n1", confidence=0.5))
    site.write(verdict(broken, "n1", revision=2))
    until(lambda: Outcome.DONE in site.results(broken))
    assert site.results(job) == [Outcome.STARTED, Outcome.DONE]
    assert site.results(packed) == [Outcome.STARTED, Outcome.DONE]
    assert [slurm.fields(name)["Restarts"] for name in (job, packed)] == ["1", "1"]

    kinds = [event.kind for event in site.read("job-events") if isinstance(event, JobEvent) and event.job == job]
    assert kinds == ["submitted", "started", "ended", "requeued", "started", "ended"]
    shown = [json.loads(line) for line in site.output_of("decisions", "--json", "--job", job).splitlines()]
    assert {record.get("outcome", "decision") for record in shown} == {"decision", "started", "done"}
    assert "restart" in site.output_of("decisions", "--job", job)
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
    site.write(verdict(job, node))
    until(lambda: site.results(job))
    assert site.results(job) == [Outcome.SHADOWED]
    assert [decision.mode for decision in site.read("decisions") if isinstance(decision, Decision)] == ["shadow"]
    assert site.slurm.fields(job)["Restarts"] == "0"


def test_what_is_over_a_users_share_waits_and_says_so(site: Site) -> None:
    site.environment["SCHEDMATE_BRIDGE__ACTIONS_PER_HOUR"] = "4"  # of which a user has a quarter: one
    site.start("bridge")
    jobs = [site.slurm.submit('test -n "$SLURM_RESTART_COUNT"') for _ in range(3)]
    for job in jobs:
        site.write(verdict(job, site.slurm.wait(job, "FAILED")["NodeList"]))
    until(lambda: all(site.results(job) for job in jobs[1:]) and Outcome.DONE in site.results(jobs[0]))
    assert [site.results(job) for job in jobs[1:]] == [[Outcome.DEFERRED]] * 2
    results = [one for one in site.read("decision-results") if isinstance(one, DecisionResult)]
    assert {one.user for one in results} == {site.slurm.fields(jobs[0])["UserId"].partition("(")[0]}
    assert {one.node for one in results} == {""}, "nothing but the job spoke against the node"
    assert "user-limit" in site.output_of("decisions", "--job", jobs[1])
    assert [site.slurm.fields(job)["Restarts"] for job in jobs] == ["1", "0", "0"]


def test_a_person_approves_while_the_bridge_is_down_and_it_acts_once(site: Site) -> None:
    site.environment["SCHEDMATE_BRIDGE__MODES"] = "restart=approve"
    bridge = site.start("bridge")
    job = site.slurm.submit('test -n "$SLURM_RESTART_COUNT"')
    site.write(verdict(job, site.slurm.wait(job, "FAILED")["NodeList"]))
    until(lambda: site.results(job) == [Outcome.AWAITING_APPROVAL])
    bridge.kill()
    bridge.wait()

    (shown,) = [
        json.loads(line) for line in site.output_of("decisions", "waiting", "--json", "--since", "1h").splitlines()
    ]
    assert "no decision waits" in site.output_of("decisions", "waiting", "--since", "2100-01-01")
    forged = command(Command.APPROVE, shown["decision"], job="another", user="mallory", time=time.time())
    site.write(forged)
    assert "expected the id of one decision" in site.run("decisions", "approve", "restart/x", "--reason", "x").stderr
    assert "approved" in site.output_of("decisions", "approve", shown["decision"], "--reason", "the node is drained")
    again = site.run("decisions", "approve", shown["decision"], "--reason", "once more")
    assert (again.returncode, "was approved by" in again.stderr) == (2, True)
    assert "no decision waits" in site.output_of("decisions", "waiting")
    (approval,) = [record for record in site.read("approvals") if record.user != "mallory"]
    site.write(approval)
    site.start("bridge")
    until(lambda: Outcome.DONE in site.results(job))
    assert site.results(job) == [Outcome.AWAITING_APPROVAL, Outcome.STARTED, Outcome.DONE]
    assert f"approved by {approval.author}: the node is drained" in site.output_of("decisions", "--job", job)
    site.write(approval)
    second = site.slurm.submit("exit 1")
    site.write(verdict(second, site.slurm.wait(second, "FAILED")["NodeList"]))
    until(lambda: site.results(second) == [Outcome.AWAITING_APPROVAL])
    site.output_of("decisions", "reject", f"restart/{second}/", "--reason", "a bug of the user")
    until(lambda: Outcome.REFUSED in site.results(second))
    assert "rejected by" in site.read("decision-results")[-1].detail
    assert [site.slurm.fields(each)["Restarts"] for each in (job, second)] == ["1", "0"]


def test_a_stop_reaches_every_bridge_and_one_that_stands_by_takes_over(site: Site) -> None:
    ports = [free_port(), free_port()]
    bridges = [site.start("--set", f"service.port={port}", "bridge") for port in ports]

    def get(port: int, what: str = "health") -> str:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{what}", timeout=5) as answer:
                return str(answer.read())
        except urllib.error.HTTPError as refused:
            return str(refused.read())
        except OSError:
            return ""

    for port in ports:
        until(lambda port=port: '"healthy": true' in get(port))  # type: ignore[misc]
    job = site.slurm.submit('test -n "$SLURM_RESTART_COUNT"')
    node = site.slurm.wait(job, "FAILED")["NodeList"]
    site.output_of("decisions", "stop", "--reason", "maintenance")
    (stop,) = site.read("approvals")
    for port in ports:
        until(lambda port=port: "no action is carried out: stopped by" in get(port))  # type: ignore[misc]
    late = time.time() - stop.time
    site.write(verdict(job, node))
    until(lambda: site.results(job) == [Outcome.STOPPED])
    assert "nothing is stopped" not in site.output_of("decisions", "resume", "--reason", "over")
    until(lambda: Outcome.DONE in site.results(job))
    assert site.results(job) == [Outcome.STOPPED, Outcome.STARTED, Outcome.DONE]
    assert "nothing is stopped" in site.output_of("decisions", "resume", "--reason", "over")

    second = site.slurm.submit('test -n "$SLURM_RESTART_COUNT" || sleep 5; test -n "$SLURM_RESTART_COUNT"')
    node = site.slurm.wait(second, "RUNNING")["NodeList"]
    site.write(verdict(second, node))
    until(lambda: [one for one in site.read("decisions") if one.job == second])
    working = ['schedmate_bridge_outcomes_total{outcome="done"} 1.0' in get(port, "metrics") for port in ports]
    assert sorted(working) == [False, True], "one works, the other stands by"
    bridges[working.index(True)].kill()  # while its decision waits for the end of the job
    until(lambda: Outcome.DONE in site.results(second), seconds=60)
    assert site.results(second) == [Outcome.STARTED, Outcome.DONE]
    assert late < 5, "and the command line takes some of that"
    print(f"both bridges said so {late:.2f} s after the stop was written, the command line's own time included")
