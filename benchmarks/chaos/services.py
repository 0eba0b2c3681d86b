"""The commands of SchedMate that run throughout, watched: one that ends by itself is noted and started again."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chaos.clocks import Clock

START_AGAIN_S = 1.0


@dataclass(frozen=True)
class Ended:
    """A command that ended though nobody had ended it."""

    name: str
    code: int
    time: float


class Service:
    """One command. `kill` and `start` are for faults; `ended` says when it went by itself."""

    def __init__(self, name: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.ended: list[Ended] = []
        self._arguments, self._environment, self._log = list(arguments), dict(environment), log
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def pid(self) -> int:
        """Return its process, started again where it is not there."""
        with self._lock:
            if self._process is None:
                self._start()
            assert self._process is not None
            return self._process.pid

    def start(self) -> None:
        """Start it."""
        with self._lock:
            self._start()

    def kill(self) -> None:
        """End it by SIGKILL."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.wait()
                self._process = None

    def check(self) -> None:
        """Note whether it has ended by itself, and start it again."""
        with self._lock:
            code = None if self._process is None else self._process.poll()
            if code is None:
                return
            self.ended.append(Ended(self.name, code, time.time()))
            self._process = None
            time.sleep(START_AGAIN_S)
            self._start()

    def stop(self) -> float:
        """End it in order; return how many seconds it took."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return 0.0
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return time.monotonic() - began

    def _start(self) -> None:
        with self._log.open("ab") as output:
            line = [sys.executable, "-m", "schedmate", *self._arguments]
            self._process = subprocess.Popen(
                line, env={**os.environ, **self._environment}, stdout=output, stderr=output, stdin=subprocess.DEVNULL
            )


def cast(environment: Mapping[str, str], scratch: Path, clock: Callable[[str], Clock]) -> list[Service]:
    """Return two workers, a sink, a bridge, a watcher and a collector, not started; each lives by a `clock` of its name."""

    def service(name: str, *arguments: str) -> Service:
        return Service(name, arguments, {**environment, **clock(name).environment}, scratch / f"{name}.log")

    pattern = r"/(?P<job>[\w-]+)\.(?P<stream>out|err)$"
    return [
        service("worker-1", "worker"),
        service("worker-2", "worker"),
        service("sink", "sink"),
        service("bridge", "bridge"),
        service("watcher", "watch-scheduler", "slurm", "--interval", "0.5"),
        service("collector", "collect", "--pattern", pattern, f"{scratch}/files/*.out"),
    ]
