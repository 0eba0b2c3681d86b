"""Honest jobs: programs that print known lines, through `schedmate pipe` or into files that the collector reads."""

import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from benchmarks.chaos import program
from benchmarks.chaos.sender import Sender
from records import EventKind, JobEvent
from streams.transport import outgoing

SMALL_DISK = 16 << 10
"""Bytes up to which a file of a pipe on a full disk may grow."""


class Way(StrEnum):
    """How a job's lines travel, and what may become of them."""

    PIPE = "pipe"
    """All arrive."""
    FILE = "file"
    """All arrive."""
    FULL_DISK = "full disk"
    """What does not fit while the broker is away is lost, and the loss is counted."""
    KILLED = "killed"
    """The shipping side is killed: nothing more arrives after that, and the program goes on."""


@dataclass
class Job:
    """One honest job.

    Attributes:
        name: Its id.
        way: How its lines travel.
        cause: Why it fails (`program.CAUSES`).
        count: Steps that it takes.
        pause_s: Pause after each line.
        printed_at: When it printed its last line, by the host's clock; 0 before that.
        broken: What went wrong with the program itself, where something did: it must never notice us.
    """

    name: str
    way: Way
    cause: str
    count: int
    pause_s: float
    printed_at: float = 0.0
    broken: str = ""
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def lines(self) -> list[str]:
        """All lines that it prints."""
        return program.lines(self.name, self.count, self.cause)

    def start(self, environment: Mapping[str, str], scratch: Path) -> None:
        """Start it."""
        line = [sys.executable, program.__file__, self.name, str(self.count), str(self.pause_s), self.cause]
        output = self._output(scratch)
        if self.way is not Way.FILE:
            line = [sys.executable, "-m", "schedmate", "pipe", "--job", self.name, "--node", "n1", "--", *line]
        full = self.way is Way.FULL_DISK
        with output.open("wb") as out, (scratch / "pipes.log").open("ab") as errors:
            self._process = subprocess.Popen(
                line, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=out, stderr=errors,
                preexec_fn=_fill_disk if full else None,  # noqa: PLW1509  # sets a limit and nothing else
            )  # fmt: skip

    def shipping_pid(self) -> int | None:
        """Return the process that ships its lines; None where it has none now."""
        if self._process is None or self._process.poll() is not None:
            return None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        try:
            for pid in map(int, children.read_text().split()):
                if program.__file__.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1:3]:
                    return pid
        except OSError:
            pass  # it ends just now
        return None

    def over(self, scratch: Path) -> bool:
        """Return whether it has ended, and look once whether the program printed and ended as it should."""
        if self._process is None or (code := self._process.poll()) is None:
            return False
        self._process = None
        output = self._output(scratch)
        self.printed_at = output.stat().st_mtime  # by the kernel's clock, whatever those of processes show
        expected = 1 if program.CAUSES[self.cause] else 0
        if code != expected:
            self.broken = f"exit code {code} instead of {expected}"
        elif self.way is not Way.FILE:
            printed = output.read_text().splitlines()
            if printed != self.lines:
                self.broken = f"{len(printed)} lines came out of the pipe, of {len(self.lines)}"
        return True

    def _output(self, scratch: Path) -> Path:
        return scratch / ("files" if self.way is Way.FILE else "printed") / f"{self.name}.out"

    def kill(self) -> None:
        """End it: the run is given up."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


class Crowd:
    """Keeps some jobs running at a time, and says as a scheduler would when they start and end."""

    def __init__(self, environment: Mapping[str, str], scratch: Path, sender: Sender, seed: int, at_once: int) -> None:
        self.jobs: list[Job] = []
        self._running: list[Job] = []
        self._environment, self._scratch, self._sender, self._at_once = environment, scratch, sender, at_once
        self._chance = random.Random(f"jobs {seed}")
        for name in ("files", "printed"):
            (scratch / name).mkdir()

    def step(self, *, start: bool) -> int:
        """See which jobs have ended, and `start` others in their place; return how many run."""
        for job in [each for each in self._running if each.over(self._scratch)]:
            self._running.remove(job)
            self._tell(job, EventKind.ENDED)
        while start and len(self._running) < self._at_once:
            job = self._next()
            self._tell(job, EventKind.STARTED)
            job.start(self._environment, self._scratch)
            self.jobs.append(job)
            self._running.append(job)
        return len(self._running)

    def shipping(self, *, to_kill: bool) -> list[int]:
        """Return the shipping processes of running jobs: of those whose may be killed, or of the others."""
        found = [job.shipping_pid() for job in self._running if (job.way is Way.KILLED) == to_kill]
        return [pid for pid in found if pid is not None]

    def kill(self) -> None:
        """End all: the run is given up."""
        for job in self._running:
            job.kill()

    def _next(self) -> Job:
        number = len(self.jobs)
        ways = (Way.PIPE, Way.FILE, Way.PIPE, Way.FULL_DISK, Way.PIPE, Way.KILLED)
        cause = self._chance.choice(("none", "xid", "xid", "oom", "assert"))
        count = self._chance.randint(80, 300)
        return Job(f"honest-{number}", ways[number % len(ways)], cause, count, self._chance.choice((0.02, 0.05)))

    def _tell(self, job: Job, kind: EventKind) -> None:
        failed = bool(program.CAUSES[job.cause])
        ended = {"exit_code": int(failed), "signal": 0, "state": "FAILED" if failed else "COMPLETED"}
        event = JobEvent(
            id=f"chaos/{job.name}/0/{kind}", job=job.name, kind=kind, time=time.time(), scheduler="chaos", nodes=["n1"],
            **(ended if kind is EventKind.ENDED else {}),  # type: ignore[arg-type]
        )  # fmt: skip
        self._sender.send(outgoing(event))


def _fill_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_DISK, SMALL_DISK))
