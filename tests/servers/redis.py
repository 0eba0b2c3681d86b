"""A real redis-server on loopback, without persistence."""

import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.servers import free_port, require


class RedisServer:
    """One redis-server process.

    Attributes:
        url: Where it answers.
    """

    def __init__(self, scratch: Path) -> None:
        require(shutil.which("redis-server") is not None, "redis-server", "Run tests/servers/install.sh.")
        self._scratch = scratch
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://127.0.0.1:{self._port}/0"

    @property
    def pid(self) -> int:
        """Its process, which must run."""
        assert self._process is not None
        return self._process.pid

    def start(self, deadline_s: float = 20.0) -> None:
        """Start it, empty, and return once it answers."""
        log = self._scratch / "redis.log"
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                ["redis-server", "--bind", "127.0.0.1", "--port", str(self._port), "--save", "", "--appendonly", "no",
                 "--dir", str(self._scratch), "--daemonize", "no"],
                stdout=out,
                stderr=out,
            )  # fmt: skip
        end = time.monotonic() + deadline_s
        with redis.Redis.from_url(self.url) as client:
            while time.monotonic() < end and self._process.poll() is None:
                with contextlib.suppress(redis.ConnectionError):
                    client.ping()
                    return
                time.sleep(0.02)
        pytest.fail(f"redis-server did not come up:\n{log.read_text()[-2000:]}")

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            self._process = None


@contextlib.contextmanager
def redis_server(scratch: Path) -> Iterator[RedisServer]:
    """Yield a running server whose files are in `scratch`."""
    server = RedisServer(scratch)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def redis_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A running Redis, one a module."""
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server
