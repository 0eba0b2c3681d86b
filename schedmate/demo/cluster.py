"""The demo's cluster: the local scheduler with a few slots, and the jobs' program in a directory of their user's."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path

from schedmate_records import JobEvent
from scheduler_bridge.schedulers.local.actuator import LocalScheduler, StreamOutput

from .programs import Program

SLOTS = 5
"""Maximum number of jobs at a time: those of the story run in parallel, on any machine."""


class Cluster:
    """Runs programs as jobs.

    Args:
        directory: Where the jobs run; made where missing.
        emit: Called with every job event.
        output: Given what jobs print.
    """

    def __init__(
        self, directory: Path, emit: Callable[[JobEvent], None], output: Callable[[StreamOutput], None]
    ) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "train.py").write_bytes((files(__package__) / "jobs.py").read_bytes())
        self.scheduler = LocalScheduler(emit, output, slots=SLOTS, cores=cores())

    def submit(self, program: Program, pack_with: str = "") -> None:
        """Queue a job."""
        self.scheduler.submit(
            [sys.executable, "train.py", program.name],
            job=program.name,
            ranks=program.ranks,
            directory=str(self._directory),
            pack_with=pack_with,
            partition=program.partition,
            priority=program.priority,
        )

    def let_fail(self, program: Program) -> None:
        """Let a job come to its fault."""
        (self._directory / f"{program.name}.due").touch()

    def kill(self, job: str) -> None:
        """Kill a running job, as a person or the kernel would."""
        self.scheduler.signal(job, signal.SIGKILL)

    def close(self) -> None:
        """End all jobs."""
        self.scheduler.close()


def cores() -> Sequence[int]:
    """Return the core of each slot: the first slot has one to itself, so that only a packed job can slow what runs there."""
    mine = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    rest = mine[1:] or mine
    return [mine[0], *(rest[slot % len(rest)] for slot in range(SLOTS - 1))]
