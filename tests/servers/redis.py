"""A real redis-server on loopback, without persistence."""

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.servers import free_port, require
from tests.servers.certificates import Authority


class RedisServer:
    """One redis-server process. With `tls` it speaks TLS alone, with that authority's certificate; `users` are ACL rules by user name.

    Attributes:
        url: Where it answers.
    """

    def __init__(self, scratch: Path, *, tls: Authority | None = None, users: Mapping[str, str] | None = None) -> None:
        require(shutil.which("redis-server") is not None, "redis-server", "Run tests/servers/install.sh.")
        self._scratch = scratch
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._listen = ["--port", str(self._port)]
        if tls:
            signed = tls.sign("redis", host="127.0.0.1")
            self.url = f"rediss://127.0.0.1:{self._port}/0"
            self._listen = [
                *("--port", "0", "--tls-port", str(self._port), "--tls-auth-clients", "no"),
                *("--tls-cert-file", str(signed.cert), "--tls-key-file", str(signed.key)),
                *("--tls-ca-cert-file", str(tls.cert)),
            ]
        for name, rules in (users or {}).items():
            self._listen += ["--user", name, *rules.split()]

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
                ["redis-server", "--bind", "127.0.0.1", *self._listen, "--save", "", "--appendonly", "no",
                 "--dir", str(self._scratch), "--daemonize", "no"],
                stdout=out,
                stderr=out,
            )  # fmt: skip
        end = time.monotonic() + deadline_s
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
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
