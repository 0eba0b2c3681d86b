"""Commands of SchedMate in the background, and what they take."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

Found = TypeVar("Found")


@contextmanager
def command(scratch: Path, environment: Mapping[str, str], *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run `schedmate` with `arguments` until the block ends; its log goes to `scratch`."""
    with (scratch / f"{arguments[0]}.log").open("ab") as log:
        line = [sys.executable, "-m", "schedmate", *arguments]
        process = subprocess.Popen(line, env={**os.environ, **environment}, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def peak_mb(pid: int) -> float:
    """Return the most memory that a process had resident, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


def processor_s(pid: int) -> float:
    """Return the processor time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def waited(ask: Callable[[], Found | None], seconds: float) -> Found:
    """Return what `ask` returns once that is true. Raises `TimeoutError` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (found := ask()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing came within {seconds:g} s")
        time.sleep(0.05)
    return found
