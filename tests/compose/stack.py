"""The stack of docker-compose.yml, run by Compose on the tests' engine."""

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers import free_port, require

from .engine import CACHE, INSTALL, Engine
from .images import ROOT

PROJECT = "schedmate-test"
ONCE = ("topics", "migrate")
THEIRS = ("kafka", "clickhouse", "redis")
OURS = ("worker", "sink", "bridge", "advisor")
FILES = ("--file", str(ROOT / "docker-compose.yml"), "--file", str(ROOT / "tests/compose/network.yml"))


def find_compose() -> list[str]:
    """Return the command of Compose: the plugin, the one in the cache, or `docker-compose` 1.29. SCHEDMATE_TEST_COMPOSE names another."""
    if named := os.environ.get("SCHEDMATE_TEST_COMPOSE"):
        return [named]
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0:
        return ["docker", "compose"]
    built = CACHE / "bin" / "docker-compose"
    require(built.exists() or shutil.which("docker-compose") is not None, "Docker Compose", INSTALL)
    return [str(built) if built.exists() else "docker-compose"]


def wait_for(condition: Callable[[], Any], what: str, deadline_s: float = 400.0) -> Any:
    """Return what `condition` returns once that is true; an `AssertionError` of it counts as false."""
    end = time.monotonic() + deadline_s
    while True:
        with contextlib.suppress(AssertionError):
            if found := condition():
                return found
        assert time.monotonic() < end, f"not within {deadline_s:.0f} s: {what}"
        time.sleep(1)


@dataclass
class Stack:
    """The stack, with secrets of its own, on a free port.

    Attributes:
        port: Where Kafka is published on loopback.
        image: Name of our image that `up` uses.
    """

    engine: Engine
    secrets: Path
    port: int
    image: str = ""

    @classmethod
    def prepare(cls, engine: Engine, secrets: Path) -> "Stack":
        """Make its secrets."""
        subprocess.run([ROOT / "packaging" / "make-secrets.sh", secrets], check=True, capture_output=True)
        return cls(engine, secrets, free_port())

    def compose(self, *arguments: str, timeout_s: float = 900.0) -> str:
        """Run Compose and return its standard output. Raise `AssertionError` with its output where it fails."""
        _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
        variables = {
            "SCHEDMATE_SECRETS": str(self.secrets),
            "SCHEDMATE_KAFKA_PORT": str(self.port),
            "SCHEDMATE_KAFKA_HEAP": "384m",
            "SCHEDMATE_PARTITIONS": "4",
            "SCHEDMATE_CLICKHOUSE_FILES": str(min(262144, most_files) if most_files > 0 else 262144),
        }
        if self.image:
            variables["SCHEDMATE_IMAGE"] = self.image
        command = [*find_compose(), "--project-name", PROJECT, *FILES, *arguments]
        done = subprocess.run(
            command,
            env=self.engine.environment | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    def up(self, *options: str) -> None:
        """Start the stack, and return once all of it is healthy."""
        self.compose("up", "--detach", *options)
        for service in (*THEIRS, *OURS):
            wait_for(lambda service=service: self.is_healthy(service), f"{service} is healthy")

    def container(self, service: str) -> dict[str, Any]:
        """Return what the engine knows of the service's container."""
        labels = (f"label=com.docker.compose.project={PROJECT}", f"label=com.docker.compose.service={service}")
        found = self.engine.docker(
            "ps", "--all", "--quiet", *(part for label in labels for part in ("--filter", label))
        )
        assert len(found.split()) == 1, f"{service}: {found.split()}"
        [known] = json.loads(self.engine.docker("inspect", found))
        return dict(known)

    def is_healthy(self, service: str) -> bool:
        """Return whether the service's container runs and its health check passes."""
        state = self.container(service)["State"]
        return bool(state["Running"] and state["Health"]["Status"] == "healthy")

    def kill(self, service: str) -> None:
        """Kill the service's first process from outside, as a crash: `docker kill` would keep it down."""
        os.kill(self.container(service)["State"]["Pid"], signal.SIGKILL)

    def schedmate(self, service: str, *arguments: str) -> str:
        """Run our command in the service's container."""
        return self.compose("exec", "-T", service, "schedmate", *arguments, timeout_s=120)

    def client_environment(self, state: Path) -> dict[str, str]:
        """Return the variables with which a program on this host reaches Kafka (docs/deploying.md, "Jobs on this host")."""
        return self.engine.environment | {
            "XDG_STATE_HOME": str(state),
            # What sends a pipe's lines has the lowest priority: on a busy host it needs longer than the default.
            "SCHEDMATE_PRODUCER__CLOSE_SECONDS": "120",
            "SCHEDMATE_KAFKA__BROKERS": f"localhost:{self.port}",
            "SCHEDMATE_KAFKA__SECURITY": "SASL_PLAINTEXT",
            "SCHEDMATE_KAFKA__SASL_MECHANISM": "PLAIN",
            "SCHEDMATE_KAFKA__USERNAME": "schedmate",
            "SCHEDMATE_KAFKA__PASSWORD_FILE": str(self.secrets / "kafka_password"),
        }
