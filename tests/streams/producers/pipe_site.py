"""A directory that serves pipes as broker and spool."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from schedmate_records import JobEvent, LogChunk, decode
from streams.producers.spool import orphans

from .switchable import segments, wait_for

DRIVER = [sys.executable, str(Path(__file__).with_name("pipe_driver.py"))]
ENV = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
NOISE = random.Random(1).randbytes(3_000_000)
MODES = ["up", "away", "crash", "bug", "hang"]


class Site:
    """A directory that serves as broker and spool."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def switch(self, on: bool = True) -> None:
        (self.directory / "up").touch() if on else (self.directory / "up").unlink()

    def command(self, *command: str, mode: str = "up") -> list[str]:
        if mode == "up":
            self.switch()
        return [*DRIVER, str(self.directory), mode, *(["--", *command] if command else [])]

    def messages(self, topic: str = "job-logs") -> list[bytes]:
        path = self.directory / "written"
        rows = [json.loads(row) for row in path.read_text().split("\n") if row.endswith("]")] if path.exists() else []
        return [value.encode() for name, value in rows if name == topic]

    def chunks(self, stream: str = "stdout") -> list[LogChunk]:
        return [chunk for value in self.messages() if (chunk := decode(LogChunk, value)).stream == stream]

    def lines(self, stream: str = "stdout") -> list[str]:
        return [line for chunk in self.chunks(stream) for line in chunk.lines]

    def events(self) -> list[JobEvent]:
        return [decode(JobEvent, value) for value in self.messages("pipe-events")]

    def lost(self) -> int:
        return sum(event.lines for event in self.events())

    def spools(self) -> list[Path]:
        return segments(self.directory / "spool")

    def send_orphans(self, data: bytes = b"") -> None:
        """Run another pipe until it has sent what earlier ones left. It looks for that at its start, so they must have let go of it."""
        wait_for(lambda: not self.spools() or [spool.close() for spool in orphans(self.directory / "spool", 1 << 30)])
        with subprocess.Popen(self.command(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=ENV) as process:
            assert process.stdin
            process.stdin.write(data)
            process.stdin.flush()
            wait_for(lambda: not self.spools())
            process.stdin.close()
            assert process.wait(120) == 0


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def call(command: list[str], data: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=data, capture_output=True, env={**ENV, **env}, timeout=120, check=False)


def shipping_process(pipe: int, program: bytes = b"pipe_driver") -> int:
    """Return the process id of the shipping process of a pipe, which is no other child's."""
    for children in Path(f"/proc/{pipe}/task").glob("*/children"):  # a thread may have started it
        for child in children.read_text().split():
            if program in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
    raise AssertionError("no shipping process")
