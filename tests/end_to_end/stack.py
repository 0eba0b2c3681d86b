"""The whole of SchedMate as an operator runs it: real servers, one process a command."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from clickhouse_connect.driver.client import Client

from sinks.clickhouse.client import open_client
from tests.servers.clickhouse import ClickHouseServer
from tests.servers.kafka import Kafka
from tests.servers.redis import RedisServer
from tests.servers.slurm import Slurm

ROOT = Path(__file__).resolve().parents[2]
Found = TypeVar("Found")


@dataclass
class Stack:
    """Running servers and commands. `environment` is what every command of SchedMate needs."""

    slurm: Slurm
    scratch: Path
    environment: dict[str, str]
    clickhouse_url: str
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)

    def start(self, *arguments: str) -> None:
        """Start `schedmate` with `arguments` in the background."""
        with self.log(arguments[0]).open("ab") as output:
            self.processes[arguments[0]] = subprocess.Popen(
                [sys.executable, "-m", "schedmate", *arguments],
                env=self.environment,
                cwd=ROOT,
                stdout=output,
                stderr=output,
            )

    def run(self, *arguments: str) -> str:
        """Run `schedmate` with `arguments` to its end and return what it printed."""
        line = [sys.executable, "-m", "schedmate", *arguments]
        done = subprocess.run(
            line, env=self.environment, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def log(self, name: str) -> Path:
        return self.scratch / f"{name}.log"

    def submit(self, program: Path, *options: str) -> str:
        """Submit a job that pipes what `program` prints into Kafka, and return its id."""
        kept = (
            "SCHEDMATE_KAFKA__BROKERS",
            "SCHEDMATE_PRODUCER__DIRECTORY",
            "SCHEDMATE_PRODUCER__CHUNK_SECONDS",
            "PYTHONPATH",
        )
        exports = " ".join(f"{name}={self.environment[name]}" for name in kept)
        script = f"cd {ROOT} && {exports} exec {sys.executable} -m schedmate pipe --node $SLURMD_NODENAME -- {sys.executable} {program}"
        job = self.slurm.submit(script, "--output=/dev/null", *options)
        self.jobs.append(job)
        return job

    def sql(self, statement: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Ask ClickHouse."""
        client: Client = open_client(self.clickhouse_url)
        try:
            return [tuple(row) for row in client.query(statement, parameters=parameters).result_rows]
        finally:
            client.close()

    def wait(self, what: str, ask: Callable[[], Found], seconds: float = 90.0) -> Found:
        """Return what `ask` returns once that is true; fail with the end of all logs after `seconds`."""
        deadline = time.monotonic() + seconds
        while not (found := ask()):
            dead = [name for name, process in self.processes.items() if process.poll() is not None]
            if dead or time.monotonic() > deadline:
                logs = "\n".join(
                    f"--- {path.name}\n{path.read_text()[-1500:]}" for path in sorted(self.scratch.glob("*.log"))
                )
                raise AssertionError(f"waited for {what}; ended: {dead}\n{self.describe_tables()}\n{logs}")
            time.sleep(0.2)
        return found

    def describe_tables(self) -> str:
        """Return what ClickHouse holds of what matters, for the message of a failed test."""
        asked = {
            "failures": "job, attempt, revision, error_type, restartable, confidence, final, signature, message",
            "decisions": "id, mode",
            "decision_results": "id, detail",
            "job_events": "job, attempt, kind, exit_code, state, packed_with, time",
            "slowdowns": "job, packed_job, before_s, after_s, ratio",
        }
        rows = [
            f"{table}: {row}"
            for table, columns in asked.items()
            for row in self.sql(f"SELECT {columns} FROM {table} ORDER BY time")
        ]
        paces = (
            "SELECT job, time, step, since_step, step_time_s, method FROM job_metrics "
            "ORDER BY time DESC LIMIT 1 BY job, intDiv(toUInt32(time), 5)"
        )
        return "\n".join([*rows, *(f"job_metrics: {row}" for row in self.sql(paces))])

    def stop(self) -> None:
        """End all jobs and commands; what a failed test leaves running would slow every test after it."""
        for job in self.jobs:
            self.slurm.run("scancel", job, check=False)
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def running(
    kafka: Kafka, clickhouse: ClickHouseServer, redis: RedisServer, slurm: Slurm, scratch: Path
) -> Iterator[Stack]:
    """Start every command on running servers; both actions are turned on."""
    spool = scratch / "state"
    spool.mkdir(mode=0o777)
    spool.chmod(0o777)
    for parent in (scratch, *scratch.parents[:2]):
        parent.chmod(0o755)
    environment = slurm.environment | {
        "SCHEDMATE_KAFKA__BROKERS": kafka.address,
        "SCHEDMATE_KAFKA__SESSION_TIMEOUT_S": "3",
        "SCHEDMATE_CLICKHOUSE__URL": clickhouse.url,
        "SCHEDMATE_REDIS__URL": redis.url,
        "SCHEDMATE_PRODUCER__DIRECTORY": str(spool),
        "SCHEDMATE_PRODUCER__CHUNK_SECONDS": "0.2",
        "SCHEDMATE_BRIDGE__MODES": "restart=act,cancel_packing=act",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    }
    stack = Stack(slurm, scratch, environment, clickhouse.url)
    with ExitStack() as undo:
        undo.callback(stack.stop)
        stack.run("migrate")
        stack.start("watch-scheduler", "slurm", "--interval", "0.3")
        stack.start("worker")
        stack.start("sink")
        stack.start("bridge")
        yield stack
