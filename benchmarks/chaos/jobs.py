"""Honest jobs: programs that print known lines, through `schedmate pipe` or into files that the collector reads."""

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from benchmarks.chaos import program

SMALL_DISK = 16 << 10
"""Bytes up to which a file of a pipe on a full disk may grow."""


class Way(StrEnum):
    """How a job's lines travel, and what may become of them."""

    PIPE = "pipe"
    """All arrive."""
    FILE = "file"
    """All arrive."""
    BATCH = "batch"
    """A pipe inside a batch job of Slurm: all arrive, and the watcher says what became of the job."""
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
    def label(self) -> str:
        """What its program calls it."""
        return self.name

    @property
    def lines(self) -> list[str]:
        """All lines that it prints."""
        return program.lines(self.label, self.count, self.cause)

    @property
    def exit_code(self) -> int:
        """What its program ends with."""
        return 1 if program.CAUSES[self.cause] else 0

    @property
    def arrives_whole(self) -> bool:
        """Whether nothing of it may be lost."""
        return self.way in (Way.PIPE, Way.FILE, Way.BATCH)

    def command(self) -> list[str]:
        """Return the program's command line."""
        return [sys.executable, program.__file__, self.label, str(self.count), str(self.pause_s), self.cause]

    def start(self, environment: Mapping[str, str], scratch: Path) -> None:
        """Start it."""
        line, output = self.command(), self.output(scratch)
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
        self.ended_with(code, scratch)
        return True

    def ended_with(self, code: int, scratch: Path) -> None:
        """Take down when the program printed its last line, and what was wrong with it."""
        output = self.output(scratch)
        self.printed_at = output.stat().st_mtime  # by the kernel's clock, whatever those of processes show
        if code != self.exit_code:
            self.broken = f"exit code {code} instead of {self.exit_code}"
        elif self.way is not Way.FILE:
            printed = output.read_text().splitlines()
            if printed != self.lines:
                self.broken = f"{len(printed)} lines came out of the pipe, of {len(self.lines)}"

    def output(self, scratch: Path) -> Path:
        """Return the file that holds what it printed."""
        return scratch / ("files" if self.way is Way.FILE else "printed") / f"{self.label}.out"

    def kill(self) -> None:
        """End it: the run is given up."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _fill_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_DISK, SMALL_DISK))
