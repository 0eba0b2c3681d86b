"""A real OpenTelemetry collector. `tests/servers/install-collector.sh` builds it on demand: minutes, and not in CI."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers import kill

PROGRAM = Path(__file__).resolve().parents[2] / ".cache" / "collector" / "otelcol"
READY = "Everything is ready. Begin running and processing data."


class Collector:
    """A collector on a configuration, as a program of its own.

    Attributes:
        log: What it writes to standard error.
    """

    def __init__(self, configuration: str, directory: Path, *options: str) -> None:
        if not PROGRAM.exists():
            pytest.skip(
                "no OpenTelemetry collector: tests/servers/install-collector.sh builds it (Go 1.26, some minutes)"
            )
        file = directory / "collector.yaml"
        file.write_text(configuration)
        self._command = [str(PROGRAM), "--config", f"file:{file}", *options]
        self.log = directory / "collector.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and return once it is ready."""
        already = self._times_ready()
        with self.log.open("ab") as log:
            environment = os.environ | {"NODE": "n1"}
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, env=environment)
        deadline = time.monotonic() + 60
        while self._times_ready() == already:
            assert self._process.poll() is None, self.log.read_text()[-3000:]
            assert time.monotonic() < deadline, self.log.read_text()[-3000:]
            time.sleep(0.05)

    def kill(self) -> None:
        """End it with SIGKILL."""
        if self._process:
            kill(self._process)
            self._process = None

    def stop(self) -> None:
        """End it with SIGTERM, and wait until it has ended."""
        if self._process:
            self._process.terminate()
            self._process.wait(60)
            self._process = None

    def _times_ready(self) -> int:
        return self.log.read_text(errors="replace").count(READY) if self.log.exists() else 0


@contextmanager
def collector(configuration: str, directory: Path, *options: str) -> Iterator[Collector]:
    """Yield a running collector, and kill it at the end."""
    running = Collector(configuration, directory, *options)
    running.start()
    try:
        yield running
    finally:
        running.kill()
