"""A real Ray cluster of two nodes on this machine: a head with its dashboard, and a worker. Their GPUs are numbers alone.

Its environment is made on demand (`tests/servers/install-ray.sh`: 400 MB), and not in CI: what needs it skips, with the reason, where it
is absent. The dashboard listens on loopback. Ray's own servers (GCS, raylets) listen on every interface, whatever they are told; so the
cluster asks for a token. Its tables are in a Redis, as Ray wants them for a head that is to outlive its own death.
"""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from scheduler_bridge.schedulers.ray.actuator.successor import NODE_ID
from scheduler_bridge.schedulers.ray.client.client import RayClient
from scheduler_bridge.schedulers.ray.client.connection import RayConnection
from scheduler_bridge.schedulers.ray.client.errors import RayError, RayUnavailable
from scheduler_bridge.schedulers.ray.client.objects import RayJob, Submission
from tests.servers import free_port

from .redis import redis_server

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = Path(os.environ.get("SCHEDMATE_TEST_RAY", ROOT / ".cache" / "ray"))
NODES = ("n1", "n2")
"""The head, and the worker."""
GPUS = 2
CPUS = 4
_MARK = "SCHEDMATE_TEST_RAY_NODE"
"""Variable by which every process of a node is known, whatever became of its parent."""


class RayServer:
    """A cluster.

    Attributes:
        root: Its files.
        logs: The logs of both nodes, those of drivers among them.
        token: What its dashboard asks for.
        client: A client of it.
    """

    def __init__(self, root: Path, redis: str) -> None:
        self.root = root
        self.logs = root / "s" / "session_latest" / "logs"
        self.token = secrets.token_hex(32)
        self._gcs, self._dashboard = free_port(), free_port()
        self._redis = redis
        self._environment = {
            name: text for name, text in os.environ.items() if not name.startswith(("RAY_", "PYTHONPATH", "SCHEDMATE_"))
        } | {
            "PATH": f"{ENVIRONMENT / 'bin'}:{os.environ['PATH']}",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": self.token,
            "RAY_REDIS_ADDRESS": redis,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_DISABLE_IMPORT_WARNING": "1",
            "RAY_JOB_STOP_WAIT_TIME_S": "1",
            "RAY_DEDUP_LOGS": "0",
        }
        self.address = f"http://127.0.0.1:{self._dashboard}"
        self.client = RayClient(RayConnection(self.address, self.token, timeout=20))

    def start(self) -> None:
        """Start both nodes."""
        self.start_head()
        self.start_worker()

    def start_head(self) -> None:
        """Start the head, and return once its dashboard answers and its node is there."""
        # Without it Ray takes the worker for another cluster on this machine, and refuses to start.
        (self.root / "s" / "ray_current_cluster").unlink(missing_ok=True)
        self._start(
            NODES[0], "--head", f"--port={self._gcs}", "--include-dashboard=true", "--dashboard-host=127.0.0.1",
            f"--dashboard-port={self._dashboard}", f"--temp-dir={self.root / 's'}",
        )  # fmt: skip
        self.until(lambda: NODES[0] in self.alive(), "the head is there")

    def start_worker(self) -> None:
        """Start the worker node."""
        self._start(NODES[1], f"--address=127.0.0.1:{self._gcs}")
        self.until(lambda: NODES[1] in self.alive(), "the worker is there")

    def on_worker(self) -> dict[str, str]:
        """Return a label selector that keeps a driver on the worker node."""
        (worker,) = [node for node in self.client.nodes() if node.alive and not node.is_head_node]
        return {NODE_ID: worker.node_id}

    def alive(self) -> list[str]:
        """Return the names of the nodes that live; none while the head does not answer."""
        with suppress(RayError):
            return [node.node_name for node in self.client.nodes() if node.alive]
        return []

    def kill(self, node: str) -> None:
        """Kill -9 every process of a node."""
        for _ in range(20):
            found = self._processes(node)
            for process in found:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            if not found:
                return
            time.sleep(0.1)

    def stop(self) -> None:
        """End all."""
        for node in reversed(NODES):
            self.kill(node)

    def submit(self, name: str, entrypoint: str, **more: object) -> str:
        """Submit a job, and return its id. A node whose agent is not there yet is waited for."""
        submission = Submission(submission_id=name, entrypoint=entrypoint, **more)  # type: ignore[arg-type]

        def taken() -> bool:
            with suppress(RayUnavailable):
                self.client.submit(submission)
                return True
            return False

        self.until(taken, f"{name} is submitted")
        return name

    def wait(self, name: str, *wanted: str, seconds: float = 180) -> RayJob:
        """Return a job once it is in one of these states."""
        found: list[RayJob | None] = [None]

        def reached() -> bool:
            with suppress(RayError):
                found[0] = self.client.job(name)
            return found[0] is not None and found[0].status in wanted

        self.until(reached, f"{name} is {' or '.join(wanted)}: {found}", seconds)
        assert found[0] is not None
        return found[0]

    def until(self, reached: Callable[[], bool], what: str, seconds: float = 180) -> None:
        """Wait until something holds."""
        deadline = time.monotonic() + seconds
        while not reached():
            if time.monotonic() > deadline:
                logs = "\n".join(file.read_text(errors="replace")[-1500:] for file in self.root.glob("*.log"))
                pytest.fail(f"expected: {what}\n{logs}")
            time.sleep(0.1)

    def _start(self, node: str, *options: str) -> None:
        agent = f"--dashboard-agent-listen-port={free_port()}"  # by default the same on every node of a host
        limits = (
            agent,
            f"--num-cpus={CPUS}",
            f"--num-gpus={GPUS}",
            "--object-store-memory=80000000",
            f"--node-name={node}",
        )
        mark = {_MARK: f"{self.root}/{node}"}
        with (self.root / f"{node}.log").open("ab") as log:
            done = subprocess.run(
                [str(ENVIRONMENT / "bin" / "ray"), "start", *options, *limits, "--disable-usage-stats"],
                env=self._environment | mark, stdout=log, stderr=log, timeout=120, check=False, cwd=self.root,
            )  # fmt: skip
        assert done.returncode == 0, (self.root / f"{node}.log").read_text(errors="replace")[-3000:]

    def _processes(self, node: str) -> list[int]:
        """Return the processes that this object started for a node, and theirs: some write a title over their environment."""
        mark = f"{_MARK}={self.root}/{node}\0".encode()
        found: set[int] = set()
        parents: dict[int, int] = {}
        for process in Path("/proc").iterdir():
            with suppress(OSError):
                if process.name.isdecimal():
                    parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
                    if mark in (process / "environ").read_bytes() + b"\0":
                        found.add(int(process.name))
        for _ in range(5):
            found |= {process for process, parent in parents.items() if parent in found}
        return sorted(found)


@contextmanager
def running() -> Iterator[RayServer]:
    """Start a cluster, and end it."""
    if not (ENVIRONMENT / "bin" / "ray").exists():
        pytest.skip(
            f"no Ray in {ENVIRONMENT}: tests/servers/install-ray.sh makes it (400 MB, a minute; not in CI for that reason), "
            "or SCHEDMATE_TEST_RAY names another environment"
        )
    root = Path(tempfile.mkdtemp(prefix="ray-"))  # short: Ray's sockets have paths below it
    try:
        with redis_server(root) as redis:
            cluster = RayServer(root, redis.url.removeprefix("redis://").removesuffix("/0"))
            try:
                cluster.start()
                yield cluster
            finally:
                cluster.stop()
    finally:
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def ray_server() -> Iterator[RayServer]:
    """One cluster for the whole session of tests."""
    with running() as cluster:
        yield cluster


@pytest.fixture
def own_ray() -> Iterator[RayServer]:
    """A cluster of its own, for a test that kills its head."""
    with running() as cluster:
        yield cluster
