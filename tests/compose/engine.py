"""A Docker engine of the tests' own, with its socket and its images apart from any other engine of this host."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers import require

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "compose"
INSTALL = "Run tests/servers/install-compose.sh."


class Engine:
    """A running engine.

    Attributes:
        environment: Variables with which `docker` and Compose find it.
    """

    def __init__(self, socket: Path) -> None:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("DOCKER_", "COMPOSE_", "SCHEDMATE_"))
        }
        # The classic builder: the engine's BuildKit needs a plugin of the command `docker`.
        self.environment = kept | {"DOCKER_HOST": f"unix://{socket}", "DOCKER_BUILDKIT": "0"}

    def docker(self, *arguments: str | Path, timeout_s: float = 900.0, stdin: int | None = None) -> str:
        """Run `docker` with `arguments` and return what it prints. Raise `AssertionError` with its output where it fails."""
        done = subprocess.run(
            ["docker", *arguments],
            env=self.environment,
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )
        assert done.returncode == 0, f"docker {arguments}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout.strip()

    def has_image(self, name: str) -> bool:
        """Return whether an image of this name exists."""
        return bool(self.docker("images", "--quiet", name))


@contextmanager
def start_engine() -> Iterator[Engine]:
    """Start an engine whose images stay in the cache, and stop it at the end. Skip the test where none can be started."""
    require(os.geteuid() == 0, "root", "A Docker engine is started as root.")
    for program in ("dockerd", "docker", "debootstrap"):
        require(shutil.which(program) is not None, program, INSTALL)
    data = CACHE / "engine"
    data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="engine-", ignore_cleanup_errors=True) as scratch:
        socket, log = Path(scratch, "docker.sock"), Path(scratch, "log")
        command = ["dockerd", "--data-root", data, "--exec-root", f"{scratch}/exec", "--pidfile", f"{scratch}/pid"]
        with log.open("wb") as out:
            # Without a default network it changes nothing for another engine of this host.
            process = subprocess.Popen(
                [*command, "--host", f"unix://{socket}", "--bridge", "none"], stdout=out, stderr=out
            )
        try:
            deadline = time.monotonic() + 90
            while not _answers(socket):
                ended = process.poll() is not None or time.monotonic() > deadline
                require(not ended, "a Docker engine", f"dockerd does not start: {log.read_text()[-600:]}")
                time.sleep(0.2)
            yield Engine(socket)
        finally:
            process.terminate()
            process.wait(60)
            # The engine leaves this mounted, and the directory could not be removed.
            subprocess.run(["umount", f"{scratch}/exec/netns/default"], capture_output=True, check=False)


def _answers(socket: Path) -> bool:
    command = ["docker", "--host", f"unix://{socket}", "version"]
    return socket.exists() and subprocess.run(command, capture_output=True, check=False).returncode == 0
