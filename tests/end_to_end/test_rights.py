"""Every program with a Kafka user of its own and no right that it does not need, on a broker that asks everybody who they are."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from processors.job import JobProcessor
from processors.node import NodeProcessor
from schedmate.services import spot
from schedmate.services.bridge import FOLLOWED, READ, RECENT
from schedmate_records import (
    Command,
    Decision,
    EventKind,
    Failure,
    JobEvent,
    LogChunk,
    NodeLogChunk,
    OperatorCommand,
    Record,
    decode,
)
from sinks.clickhouse.client import open_client
from sinks.clickhouse.tables import STORED_TOPICS
from streams.kafka import Connection, KafkaConsumer, KafkaProducer, check_role, read_back
from streams.kafka.acls import grant, granted, revoke
from streams.model_worker.chunks import TOPIC
from streams.rights import ALL, ROLES, Role
from streams.transport import Outgoing, TransportError, outgoing
from tests.servers.clickhouse import ClickHouseServer
from tests.servers.redis import RedisServer
from tests.servers.secure_kafka import ADMIN, SecureKafka, secure_kafka, settings_of
from tests.streams.model_worker.misbehaving_server import misbehaving
from tests.streams.model_worker.sensible import sensible_server

pytestmark = [pytest.mark.kafka, pytest.mark.redis, pytest.mark.clickhouse, pytest.mark.slow, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
BY_PASSWORD = ("pipe", "worker", "bridge", "reader", "administrator", "watcher")
"""These have passwords, the others certificates."""
STORE = "store-password"


@dataclass
class Site:
    """The servers, and who may do what on them."""

    kafka: SecureKafka
    scratch: Path
    environment: dict[str, str] = field(default_factory=dict)
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def connection(self, role: str) -> Connection:
        return self.kafka.by_password(role) if role in BY_PASSWORD else self.kafka.by_certificate(role)

    def principal(self, role: str) -> str:
        return f"User:{role}" if role in BY_PASSWORD else f"User:CN={role}"

    def variables(self, connection: Connection) -> dict[str, str]:
        return {**self.environment, **settings_of(connection)}

    def run(self, role: str, *arguments: str, check: bool = True, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command as who has `role` to its end."""
        connection = self.kafka.connection if role == ADMIN else self.connection(role)
        done = subprocess.run(
            [sys.executable, "-m", "schedmate", *arguments],
            env=self.variables(connection), cwd=ROOT, capture_output=True, text=True, timeout=90, check=False, input=given,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"{role} {arguments}: {done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
        return done

    def start(self, role: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command as who has `role`."""
        with (self.scratch / f"{role}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "schedmate", *arguments],
                env=self.variables(self.connection(role)),
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )
        self.running.append(process)
        return process

    def read(self, topic: str) -> list[bytes]:
        return [message.value for message in read_back(self.kafka.connection, [topic])]

    def until(self, what: str, ask: Callable[[], Any], seconds: float = 90) -> Any:
        deadline = time.monotonic() + seconds
        while not (found := ask()):
            dead = [process.args for process in self.running if process.poll() not in (None, 0)]
            logs = "\n".join(f"--- {log.name}\n{log.read_text()[-1500:]}" for log in sorted(self.scratch.glob("*.log")))
            assert not dead, f"ended: {dead}\n{logs}"
            assert time.monotonic() < deadline, f"{what} did not come\n{logs}"
            time.sleep(0.2)
        return found

    def stop(self) -> None:
        for process in self.running:
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.running.clear()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    directory = Path(tempfile.mkdtemp(prefix="rights-"))
    scratch = directory / "scratch"
    for name in ("scratch", "kafka", "redis", "clickhouse"):
        (directory / name).mkdir()
    with secure_kafka(directory / "kafka", BY_PASSWORD) as kafka:
        users = {
            "default": "off",
            "sink": f"on >{STORE} ~schedmate:* +@connection +@read +@write +@scripting -@dangerous",
        }
        redis = RedisServer(directory / "redis", tls=kafka.authority, users=users)
        clickhouse = ClickHouseServer(directory / "clickhouse", tls=kafka.authority, login=("sink", STORE))
        redis.start()
        clickhouse.start()
        found = Site(kafka, scratch)
        found.environment = {name: value for name, value in os.environ.items() if not name.startswith("SCHEDMATE_")} | {
            "SCHEDMATE_CONFIG": os.devnull,
            "SCHEDMATE_KAFKA__SESSION_TIMEOUT_S": "3",
            "SCHEDMATE_PRODUCER__DIRECTORY": str(scratch / "state"),
            "SCHEDMATE_PRODUCER__CLOSE_SECONDS": "30",
            "SCHEDMATE_REDIS__URL": redis.url.replace("rediss://", "rediss://sink@"),
            "SCHEDMATE_REDIS__PASSWORD": STORE,
            "SCHEDMATE_REDIS__SSL_CAFILE": str(kafka.authority.cert),
            "SCHEDMATE_CLICKHOUSE__URL": clickhouse.url,
            "SCHEDMATE_CLICKHOUSE__PASSWORD": STORE,
            "SCHEDMATE_CLICKHOUSE__SSL_CAFILE": str(kafka.authority.cert),
            "PYTHONPATH": str(ROOT),
        }
        try:
            found.run(ADMIN, "acls", "grant", "administrator", "User:administrator")
            found.run("administrator", "topics", "create", "--partitions", "2")
            _grant_all(found, directory)
            yield found
        finally:
            found.stop()
            redis.kill()
            clickhouse.kill()
            shutil.rmtree(directory, ignore_errors=True)


def _grant_all(site: Site, directory: Path) -> None:
    """Run the script that ships, with this test's users."""
    command = directory / "schedmate"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m schedmate "$@"\n')
    command.chmod(0o755)
    users = {role.upper().replace("-", "_"): site.principal(role) for role in ROLES if role != "administrator"}
    environment = {**site.variables(site.connection("administrator")), **users, "SCHEDMATE": str(command)}
    script = ROOT / "packaging" / "grant-rights.sh"
    done = subprocess.run([script], env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("has the rights of") == len(users)


def write_as(site: Site, role: str, record: Record | Outgoing) -> None:
    """Write `record` as who has `role`."""
    producer = KafkaProducer(site.connection(role))
    try:
        producer.send(record if isinstance(record, Outgoing) else outgoing(record)).result(30)
    finally:
        producer.close()


def test_the_table_is_what_the_code_reads_and_writes() -> None:
    worker, inputs = ROLES["worker"], {*JobProcessor().inputs, *NodeProcessor.inputs}
    assert set(worker.reads) == inputs | {JobProcessor.state_topic, NodeProcessor.state_topic, "formats"}
    assert set(ROLES["sink"].reads) == set(STORED_TOPICS)
    assert set(ROLES["model-worker"].reads) == {"model-questions", TOPIC, "formats"}
    assert set(ROLES["bridge"].reads) == {*READ, *FOLLOWED, *RECENT}
    assert set(ROLES["spot"].reads) == {*spot.READ, *spot.PAST}
    producers = [ROLES[name] for name in ("pipe", "collector", "gpu-agent", "watcher")]
    assert not any(role.reads or role.group for role in producers)
    assert "node-logs" not in ROLES["pipe"].writes
    assert "job-events" not in ROLES["pipe"].writes


@pytest.mark.parametrize("role", ROLES.values(), ids=ROLES)
def test_each_has_its_rights_and_no_others(site: Site, role: Role) -> None:
    import kafka

    connection = site.connection(role.name)
    assert check_role(connection, role) == []
    client = kafka.KafkaAdminClient(**connection.config())
    may = {each["name"]: set(each["authorized_operations"] or ()) for each in client.describe_topics(list(ALL))}
    client.close()
    assert {name for name, can in may.items() if "WRITE" in can} == set(role.writes)
    assert {name for name, can in may.items() if "READ" in can} == set(role.reads)
    for other in ROLES.values():
        if set(other.writes) - set(role.writes):
            assert any("this user has no right to" in problem for problem in check_role(connection, other))
    done = site.run(role.name, "acls", "check", role.name)
    assert "may do what" in done.stdout


FORGED: list[tuple[str, Record | Outgoing]] = [
    ("pipe", NodeLogChunk(node="n1", lines=["NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."], time=1.0)),
    ("pipe", JobEvent(id="e", job="8", kind=EventKind.ENDED, time=1.0, scheduler="slurm", state="NODE_FAIL")),
    ("pipe", Outgoing("failures", b"8", b"{}")),
    ("pipe", Outgoing("decisions", b"8", b"{}")),
    ("collector", Outgoing("job-events", b"8", b"{}")),
    ("gpu-agent", Outgoing("node-logs", b"n1", b"{}")),
    ("watcher", Outgoing("failures", b"8", b"{}")),
    ("worker", Outgoing("decisions", b"8", b"{}")),
    ("worker", Outgoing("model-answers", b"8", b"{}")),
    ("model-worker", Outgoing("failures", b"8", b"{}")),
    ("sink", Outgoing("decisions", b"8", b"{}")),
    ("bridge", Outgoing("failures", b"8", b"{}")),
    ("subscriber", Outgoing("decision-results", b"8", b"{}")),
    ("reader", Outgoing("decisions", b"8", b"{}")),
    *(
        (role, OperatorCommand(id=role, command=Command.STOP, user="mallory", time=1.0, reason="forged"))
        for role in ("pipe", "worker", "sink", "bridge", "subscriber", "reader")
    ),
    ("reader", Outgoing("feedback", b"8", b"{}")),
]


@pytest.mark.parametrize(("role", "record"), FORGED, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_forged_is_refused_in_words(site: Site, role: str, record: Record | Outgoing) -> None:
    topic = record.topic if isinstance(record, Outgoing) else outgoing(record).topic
    before = len(site.read(topic))
    with pytest.raises(TransportError, match=f"has no right to write to {topic}"):
        write_as(site, role, record)
    assert len(site.read(topic)) == before


def test_who_may_not_read_or_join_is_told_so(site: Site) -> None:
    write_as(site, "pipe", LogChunk(job="1", lines=["step 1"], time=time.time()))
    with pytest.raises(TransportError, match="user pipe has no right to read job-logs"):
        list(read_back(site.connection("pipe"), ["job-logs"]))
    with pytest.raises(
        TransportError, match="reader has no right to read decisions as a member of the group schedmate-bridge"
    ):
        _joined(site.connection("reader"))


def _joined(connection: Connection) -> None:
    with KafkaConsumer(connection, "schedmate-bridge", ["decisions"]) as consumer:
        for _ in range(20):
            consumer.poll(0.5)


def test_commands_without_their_rights_end_with_a_sentence(site: Site) -> None:
    for role, arguments in (
        ("pipe", ["worker"]),
        ("pipe", ["sink"]),
        ("pipe", ["bridge"]),
        ("pipe", ["model-worker"]),
        ("pipe", ["decisions"]),
        ("pipe", ["topics", "create"]),
        ("reader", ["decisions", "stop", "--reason", "mine"]),
        ("worker", ["acls", "grant", "administrator", "User:worker"]),
    ):
        done = site.run(role, *arguments, check=False)
        assert done.returncode == 2, f"{role} {arguments}: {done.stdout}{done.stderr}"
        said = [line for line in done.stderr.splitlines() if line.startswith("schedmate: ")]
        assert len(said) == 1, done.stderr
        assert "right" in said[0]
    done = site.run("pipe", "topics", "check", check=False)
    assert done.returncode == 1
    assert "may not see" in done.stdout


@pytest.fixture
def model_server() -> Iterator[str]:
    """The address of a model server."""
    with misbehaving(sensible_server) as server:
        yield server.url


def test_every_command_works_with_its_own_rights(site: Site, model_server: str) -> None:
    site.run("sink", "migrate")
    site.start("worker", "--set", "processors.ask_models=true", "worker")
    site.start("model-worker", "--set", f"language_model.servers={model_server}", "model-worker")
    site.start("sink", "sink")
    site.start("bridge", "bridge")
    kernel = site.scratch / "kern.txt"
    kernel.write_text("")
    site.start(
        "collector", "collect", "--node-log", str(kernel), "--node", "n1", "--checkpoint", str(site.scratch / "c")
    )
    site.start("gpu-agent", "gpu-agent", "--replay", "shipped", "--loop", "--interval", "0.2")
    write_as(
        site,
        "watcher",
        JobEvent(id="s", job="77", kind=EventKind.STARTED, time=time.time(), scheduler="slurm", nodes=["n1"]),
    )
    error = "torch.distributed.DistBackendError: NCCL error: unhandled system error"
    program = f"print('step 1 loss 2.0'); print('{error}', flush=True); raise SystemExit(1)"
    done = site.run("pipe", "pipe", "--job", "77", "--node", "n1", "--", sys.executable, "-c", program, check=False)
    assert done.returncode == 1

    def lines() -> bool:
        with kernel.open("a") as file:
            file.write("Jan  1 00:00:00 n1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n")
        return bool(site.read("node-logs"))

    site.until("the pipe's lines", lambda: [decode(LogChunk, value) for value in site.read("job-logs")])
    site.until("the node's lines", lines)
    site.until("samples of GPUs", lambda: site.read("gpu-metrics"))
    ended = JobEvent(
        id="x", job="77", kind=EventKind.ENDED, time=time.time(), scheduler="slurm", exit_code=1, state="FAILED"
    )
    write_as(site, "watcher", ended)
    failures = site.until("a verdict", lambda: [decode(Failure, value) for value in site.read("failures")])
    assert {failure.job for failure in failures} == {"77"}
    site.until("the state", lambda: site.read("job-state"))
    _fail_without_a_known_cause(site)
    site.until("an answer of the model", lambda: site.read("model-answers"))

    site.until("rows", lambda: _stored(site))
    status = site.until("the state in Redis", lambda: site.run("reader", "status", "77", "--json", check=False).stdout)
    assert json.loads(status)["job"] == "77"
    assert "77" in site.run("reader", "query", "verdicts", "--json").stdout
    write_as(site, "bridge", _decision())
    decided = site.run("reader", "decisions", "--json", "--job", "78").stdout
    assert json.loads(decided.splitlines()[0])["job"] == "78"
    follow = site.start("reader", "decisions", "--follow", "--json", "--job", "78")
    site.until("the decision, followed", lambda: b'"78"' in (site.scratch / "reader.log").read_bytes())
    assert follow.poll() is None
    consumer = KafkaConsumer(site.connection("subscriber"), "schedmate-subscriber", ["decisions"], 3)
    site.until("the decision, subscribed", lambda: consumer.poll(0.5))
    consumer.close()
    assert "as they should be" in site.run("operator", "topics", "check").stdout
    write_as(site, "pipe", Outgoing("job-logs", None, b"nobody's"))
    _people(site)
    letters = site.until("a dead letter", lambda: _dead_letters(site))
    site.run("operator", "dead-letters", "replay", letters[0])
    refused = site.run("operator", "dead-letters", "skip", "job-logs", "0", "0", "--yes", check=False)
    assert "run: stop all of them first" in refused.stderr
    assert not [process.args for process in site.running if process.poll() is not None]
    for log in site.scratch.glob("*.log"):
        assert "Authorization" not in log.read_text(), log.read_text()[-3000:]


def _fail_without_a_known_cause(site: Site) -> None:
    """Run a job whose failure no rule explains, so that a language model is asked."""
    started = JobEvent(id="s2", job="79", kind=EventKind.STARTED, time=time.time(), scheduler="slurm", nodes=["n2"])
    write_as(site, "watcher", started)
    program = "print('something is wrong', flush=True); raise SystemExit(3)"
    site.run("pipe", "pipe", "--job", "79", "--node", "n2", "--", sys.executable, "-c", program, check=False)
    ended = JobEvent(
        id="x2", job="79", kind=EventKind.ENDED, time=time.time(), scheduler="slurm", exit_code=3, state="FAILED"
    )
    write_as(site, "watcher", ended)


def _people(site: Site) -> None:
    """Stop and resume the bridge, and correct a verdict, as an operator."""
    assert "stopped" in site.run("operator", "decisions", "stop", "--reason", "a test").stdout
    assert "a test" in site.run("reader", "decisions").stdout
    assert "lifted" in site.run("operator", "decisions", "resume", "--reason", "it is over").stdout
    said = site.run(
        "operator", "feedback", "77", "--cause", "nccl", "--line", "NCCL error: unhandled system error"
    ).stdout
    assert "noted for attempt 0 of job 77" in said
    site.until("the word in Redis", lambda: "nccl (attempt 0" in site.run("reader", "status", "77").stdout)
    assert "NCCL error" in site.run("operator", "signatures", "propose", "77").stdout


def _stored(site: Site) -> int:
    client = open_client(
        site.environment["SCHEDMATE_CLICKHOUSE__URL"], password=STORE, ca_cert=str(site.kafka.authority.cert)
    )
    try:
        return int(client.query("SELECT count() FROM failures WHERE job = '77'").result_rows[0][0])
    finally:
        client.close()


def _dead_letters(site: Site) -> list[str]:
    said = site.run("operator", "dead-letters", "list", "--json").stdout
    return [json.loads(each)["id"] for each in said.splitlines()]


def _decision() -> Decision:
    now = time.time()
    return Decision(
        id="d78", job="78", action="restart", mode="shadow", time=now, expires=now + 60, reason="test", policy="test", cause_id="c"
    )  # type: ignore[arg-type]  # fmt: skip


def test_rights_are_granted_once_and_taken_away(site: Site) -> None:
    wanted = list(ROLES["sink"].grants())
    assert grant(site.kafka.connection, "User:new", wanted) == len(wanted)
    assert grant(site.kafka.connection, "User:new", wanted) == 0
    assert set(granted(site.kafka.connection, "User:new")) == set(wanted)
    assert revoke(site.kafka.connection, "User:new") == len(wanted)
    assert granted(site.kafka.connection, "User:new") == []
    with pytest.raises(TransportError, match="expected a principal such as User:"):
        grant(site.kafka.connection, "User:*", wanted)
