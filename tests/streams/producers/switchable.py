"""A broker for tests of shipping: in memory, and able to be away, to refuse, or to say nothing."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from schedmate_records import JobEvent, LogChunk, decode
from streams.producer import Refused
from streams.transport import Outgoing, TransportError
from tests.waiting import until


class Switchable:
    """`state` is `up`, `away` (no connection, and open ones fail), `refusing` or `silent` (no answer until closed)."""

    def __init__(self, state: str = "up") -> None:
        self.state = state
        self.written: list[Outgoing] = []
        self.sends = 0
        self.connections = 0
        self.fail_next = 0
        self.never: set[int] = set()
        """Numbers of chunks that are refused for good."""
        self.lock = threading.Lock()

    def connect(self) -> "Connected":
        if self.state == "away":
            raise TransportError("nobody answers")
        self.connections += 1
        return Connected(self)

    @property
    def chunks(self) -> list[LogChunk]:
        return [decode(LogChunk, m.value or b"") for m in self.written if m.topic == "job-logs"]

    @property
    def lines(self) -> list[str]:
        return [line for chunk in self.chunks for line in chunk.lines]

    @property
    def events(self) -> list[JobEvent]:
        return [decode(JobEvent, m.value or b"") for m in self.written if m.topic == "pipe-events"]


class Connected:
    def __init__(self, broker: Switchable) -> None:
        self.broker = broker
        self.open: list[Future[None]] = []

    def send(self, message: Outgoing) -> "Future[None]":
        future: Future[None] = Future()
        with self.broker.lock:
            self.broker.sends += 1
            if self.broker.state in ("away", "refusing") or self.broker.fail_next:
                self.broker.fail_next = max(0, self.broker.fail_next - 1)
                future.set_exception(TransportError(f"broker is {self.broker.state}"))
            elif self.broker.never and decode(LogChunk, message.value or b"").seq in self.broker.never:
                future.set_exception(Refused("never"))
            elif self.broker.state == "silent":
                self.open.append(future)
            else:
                self.broker.written.append(message)
                future.set_result(None)
        return future

    def flush(self, timeout: float) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        for future in self.open:
            future.set_exception(TransportError("closed"))


def segments(root: Path) -> list[Path]:
    """Return the segments of all spools under `root`. Spools come and go while they are listed, which `Path.glob` does not stand."""
    return [Path(folder) / name for folder, _, names in os.walk(root) for name in names if name.endswith(".segment")]


def wait_for(condition: Callable[[], object], timeout: float = 120.0) -> None:
    """Poll until `condition` holds; fail after `timeout` seconds. What ships has a low priority: on a busy host it takes its time."""
    until(condition, timeout)
