"""What a pipe tells of the command that it runs: when it began, and how it ended."""

import os
import pwd
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs

from records import PIPE, EventKind, JobEvent

from .environment import Identity

COMMAND = 1000
"""Characters of a command line that are told: as many as a Slurm event has."""


@dataclass(frozen=True, slots=True)
class Run:
    """What runs: since when, the command line (empty where a filter cannot know it), the directory, the user."""

    began: float
    command: str = ""
    directory: str = ""
    user: str = ""

    @classmethod
    def here(cls, command: Sequence[str]) -> "Run":
        """Describe `command`, about to be run by this process."""
        try:
            user = pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:
            user = str(os.geteuid())
        try:
            directory = os.getcwd()  # noqa: PTH109
        except OSError:  # it was removed
            directory = ""
        return cls(time.time(), shlex.join(command)[:COMMAND], directory, user)


def started(who: Identity, run: Run, producer: str) -> JobEvent:
    """Return the event of the start. `producer` is a name that no other run has."""
    return _event(who, run, producer, EventKind.STARTED, run.began)


def ended(who: Identity, run: Run, producer: str, now: float, status: int | None) -> JobEvent:
    """Return the event of the end: `status` is the exit code, -N where signal N killed the command, None where nobody knows."""
    event = _event(who, run, producer, EventKind.ENDED, max(now, run.began))
    if status is None:
        return structs.replace(event, detail="its output ended; how it ended is not known")
    if status < 0:
        return structs.replace(event, signal=-status)
    return structs.replace(event, exit_code=status, signal=0)


def _event(who: Identity, run: Run, producer: str, kind: EventKind, at: float) -> JobEvent:
    return JobEvent(
        id=f"{PIPE}/{who.job}/{who.attempt}/{kind}/{producer}",
        job=who.job,
        attempt=who.attempt,
        kind=kind,
        time=at,
        scheduler=PIPE,
        nodes=[who.node] if who.node else [],
        command=run.command,
        directory=run.directory,
        user=run.user,
    )
