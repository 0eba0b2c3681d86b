"""The image and the stack, started for real. The tests run in this order: each uses the stack that the one before left.

The images of the servers and the base image are stand-ins (images.py): these tests do not show that the official images work.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from .stack import ONCE, OURS, ROOT, THEIRS, Stack, wait_for

pytestmark = [pytest.mark.compose, pytest.mark.timeout(3000)]

SCHEDMATE = (sys.executable, "-m", "schedmate")
TRAINING = """
import time
for step in range(1, 31):
    print(f"step {step} | loss {2 / step:.4f} | 0.100 s/step", flush=True)
    time.sleep(0.1)
raise RuntimeError("CUDA error: uncorrectable ECC error encountered")
"""
SUBSCRIBER = """
from scheduler_bridge import subscribe
for delivery in subscribe("kafka:19092", group="compose-test", everything=True):
    print(delivery.decision.action, delivery.decision.job, flush=True)
    delivery.ack()
    if delivery.decision.job == "new":
        break
"""


def run_training(environment: Mapping[str, str], job: str, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Run a failing training through `schedmate pipe` on this host. `meanwhile` is called once it prints."""
    command = [*SCHEDMATE, "pipe", "--job", job, "--", sys.executable, "-c", TRAINING]
    with subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True) as piped:
        assert piped.stdout
        printed = piped.stdout.readline()
        meanwhile()
        printed += piped.stdout.read()
        assert piped.wait(180) == 1
    assert "step 1 |" in printed
    assert "step 30 |" in printed


def wait_for_verdict(stack: Stack, job: str) -> None:
    """Wait until the verdict of a failed training is in ClickHouse."""
    wait_for(lambda: "gpu_ecc_text" in verdict(stack, job), f"a verdict of job {job}")


def run_job(stack: Stack, state: Path, job: str) -> None:
    """Run a failing training that ships to the stack's Kafka, and return once its verdict is in ClickHouse."""
    run_training(stack.client_environment(state), job)
    wait_for_verdict(stack, job)


def verdict(stack: Stack, job: str) -> str:
    """Return the row of the job's verdict."""
    return stack.schedmate("sink", "query", "verdicts", f"job={job}", "--csv")


def test_the_stack_of_the_older_image_does_its_work(stack: Stack, state: Path) -> None:
    for service in ONCE:
        assert stack.container(service)["State"]["ExitCode"] == 0, service
    run_job(stack, state, "old")


def test_services_start_after_what_they_depend_on(stack: Stack) -> None:
    states = {name: stack.container(name)["State"] for name in (*OURS, *ONCE)}
    topics, migrate = (states[name]["FinishedAt"] for name in ONCE)
    assert all(states[name]["StartedAt"] > topics for name in OURS)
    assert states["sink"]["StartedAt"] > migrate


def test_upgrade_builds_the_new_image_and_keeps_the_data(stack: Stack, state: Path) -> None:
    older = stack.container("worker")["Image"]
    servers = {name: stack.container(name)["Id"] for name in THEIRS}
    stack.image = ""
    stack.up("--build")
    assert all(stack.container(name)["Image"] != older for name in (*OURS, *ONCE))
    assert {name: stack.container(name)["Id"] for name in THEIRS} == servers
    assert [stack.container(name)["State"]["ExitCode"] for name in ONCE] == [0, 0]
    assert "gpu_ecc_text" in verdict(stack, "old")
    run_job(stack, state, "new")


def test_topics_are_as_they_should_be_for_a_client_on_this_host(stack: Stack, state: Path) -> None:
    command = [*SCHEDMATE, "topics", "check"]
    known = stack.client_environment(state)
    checked = subprocess.run(command, env=known, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    wrong = known | {"SCHEDMATE_KAFKA__PASSWORD_FILE": str(stack.secrets / "redis_password")}
    refused = subprocess.run(command, env=wrong, cwd=ROOT, capture_output=True, check=False, timeout=60)
    assert refused.returncode != 0


def test_queries_of_the_readme_answer(stack: Stack) -> None:
    assert re.search(r"new +ended +step 30", stack.schedmate("sink", "status"))
    assert "failures" in stack.schedmate("sink", "query")
    assert "step" in stack.schedmate("sink", "query", "throughput", "job=new", "hours=2")
    assert "infrastructure,gpu,gpu_ecc_text" in stack.schedmate("sink", "query", "failures", "weeks=4", "--csv")
    counted = stack.schedmate("sink", "query", "--sql", "SELECT job, max(step) FROM job_metrics GROUP BY job", "--csv")
    assert "new,30" in counted.replace('"', "")
    assert "no dead letters" in stack.schedmate("sink", "dead-letters", "list", "--since", "1h")


def test_decisions_are_published_and_none_is_carried_out(stack: Stack) -> None:
    decisions = wait_for(lambda: stack.schedmate("bridge", "decisions"), "decisions")
    assert re.search(r"SHADOW +restart new", decisions)
    received = stack.compose("exec", "-T", "bridge", "python", "-c", SUBSCRIBER, timeout_s=120).splitlines()
    assert {"restart old", "restart new"} <= set(received)


@pytest.mark.parametrize("service", [*OURS, *THEIRS])
def test_container_runs_with_few_rights(stack: Stack, service: str) -> None:
    status = stack.compose("exec", "-T", service, "cat", "/proc/1/status")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["Uid"].split()[0] != "0"
    assert int(fields["CapEff"], 16) == 0
    assert fields["NoNewPrivs"] == "1"
    written = stack.compose(
        "exec", "-T", service, "sh", "-c", "for at in /usr /etc /opt; do touch $at/x 2>/dev/null && echo $at; done; :"
    )
    assert not written
    if service in OURS:
        assert fields["Uid"].split()[0] == "10001"
        stack.compose("exec", "-T", service, "touch", "/tmp/x", "/var/lib/schedmate/x")


def test_only_kafka_is_published_and_only_on_loopback(stack: Stack) -> None:
    published = {name: stack.container(name)["NetworkSettings"]["Ports"] or {} for name in (*OURS, *THEIRS)}
    bound = {
        name: [each for ports in all_ports.values() for each in ports or []] for name, all_ports in published.items()
    }
    assert {name: found for name, found in bound.items() if found} == {
        "kafka": [{"HostIp": "127.0.0.1", "HostPort": str(stack.port)}]
    }


def test_redis_and_clickhouse_refuse_clients_without_the_password(stack: Stack) -> None:
    probe = """
import redis, urllib.error, urllib.request
try:
    redis.Redis("redis").ping()
except redis.AuthenticationError:
    print("redis refuses")
try:
    urllib.request.urlopen("http://clickhouse:8123/?query=SELECT+1")
except urllib.error.HTTPError as error:
    print("clickhouse refuses", error.code)
"""
    answers = stack.compose("exec", "-T", "sink", "python", "-c", probe).splitlines()
    assert answers == ["redis refuses", "clickhouse refuses 403"]


@pytest.mark.parametrize("service", [*OURS, *THEIRS])
def test_killed_container_returns(stack: Stack, service: str) -> None:
    before = stack.container(service)["RestartCount"]
    stack.kill(service)
    wait_for(lambda: stack.container(service)["RestartCount"] > before, f"{service} starts again")
    wait_for(lambda: stack.is_healthy(service), f"{service} is healthy again")


def test_stack_works_after_the_kills_and_redis_kept_the_jobs(stack: Stack, state: Path) -> None:
    status = stack.schedmate("sink", "status")
    assert re.search(r"new +ended", status), status
    run_job(stack, state, "later")


def test_lines_of_a_job_during_an_outage_of_kafka_arrive_afterwards(stack: Stack, state: Path) -> None:
    known = stack.client_environment(state) | {"SCHEDMATE_PRODUCER__CLOSE_SECONDS": "2"}
    run_training(known, "cut", meanwhile=lambda: stack.compose("stop", "kafka"))
    stack.compose("start", "kafka")
    wait_for(lambda: stack.is_healthy("kafka"), "kafka is healthy again")
    run_job(stack, state, "after")  # the next pipe of this user sends what the last one kept
    wait_for_verdict(stack, "cut")
    counted = stack.schedmate("sink", "query", "--sql", "SELECT job, kind FROM job_events WHERE job = 'cut'", "--csv")
    assert "ended" in counted
    assert "lines_lost" not in counted


def test_jobs_ship_through_a_collector_on_this_host_and_need_no_password(stack: Stack, state: Path) -> None:
    socket = state / "schedmate.sock"
    collecting = [*SCHEDMATE, "collect", "--socket", str(socket)]
    job = {"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(state / "job"), "SCHEDMATE_SOCKET": str(socket)}
    with subprocess.Popen(collecting, env=stack.client_environment(state), cwd=ROOT) as collector:
        try:
            wait_for(socket.exists, "the collector's socket", 60)
            run_training(job, "collected")
            wait_for_verdict(stack, "collected")
        finally:
            collector.terminate()


def test_more_workers_share_the_work(stack: Stack, state: Path) -> None:
    stack.compose("up", "--detach", "--no-recreate", "--scale", "worker=2", "worker")
    assert len(stack.compose("ps", "--quiet", "worker").split()) == 2
    run_job(stack, state, "shared")
    stack.compose("up", "--detach", "--no-recreate", "--scale", "worker=1", "worker")
    assert stack.is_healthy("worker")


def test_services_stop_in_order(stack: Stack) -> None:
    stack.compose("stop", *OURS)
    codes = {name: stack.container(name)["State"]["ExitCode"] for name in OURS}
    assert codes == dict.fromkeys(OURS, 0)


def test_down_and_up_keep_what_the_volumes_hold(stack: Stack, state: Path) -> None:
    stack.compose("down")
    stack.up("--no-build")
    for job in ("old", "new", "later"):
        assert "gpu_ecc_text" in verdict(stack, job)
    assert re.search(r"later +ended", stack.schedmate("sink", "status"))
    counted = stack.schedmate("sink", "query", "--sql", "SELECT job, count() FROM failures GROUP BY job", "--csv")
    run_job(stack, state, "last")
    again = stack.schedmate("sink", "query", "--sql", "SELECT job, count() FROM failures GROUP BY job", "--csv")
    assert set(counted.splitlines()) <= set(again.splitlines()), json.dumps([counted, again])
