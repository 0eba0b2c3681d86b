"""Events of a pipe about its command, a whole job or a rank: start and end.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import pwd
import shlex
from typing import TYPE_CHECKING

from .pipe_records import ENDED, PIPE, RANK_ENDED, RANK_STARTED, STARTED, job_event
from .pipe_settings import COMMAND_LIMIT, working_directory

if TYPE_CHECKING:
    from ..producer import Outgoing
    from .environment import Identity
    from .pipe_settings import ShippingRun


class Life:
    """Makes the job events of `run`, which this process is about to run, or a child of the process that does.

    Args:
        producer: A name that no other run has.
    """

    def __init__(self, who: Identity, run: ShippingRun, producer: str) -> None:
        self._who, self._run, self._producer = who, run, producer
        try:
            user = pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:
            user = str(os.geteuid())
        directory = working_directory() if run.directory is None else run.directory
        command = " ".join(map(shlex.quote, run.command))[:COMMAND_LIMIT]
        self._about = {"command": command, "directory": directory, "user": user}

    def started(self) -> Outgoing:
        """Return the event of the start."""
        return self._event(STARTED if self._run.rank is None else RANK_STARTED, self._run.began)

    def ended(self, now: float, status: int | None) -> Outgoing:
        """Return the event of the end: `status` is the exit code, -N where signal N killed the command, None where it is not known."""
        at, kind = max(now, self._run.began), ENDED if self._run.rank is None else RANK_ENDED
        if status is None:
            return self._event(kind, at, detail="its output ended; how it ended is not known")
        if status < 0:
            return self._event(kind, at, signal=-status)
        return self._event(kind, at, exit_code=status, signal=0)

    def _event(self, kind: str, at: float, **how: object) -> Outgoing:
        who = self._who
        return job_event(
            id=f"{PIPE}/{who.job}/{who.attempt}/{kind}/{self._producer}",
            job=who.job,
            incarnation=self._run.incarnation,
            attempt=who.attempt,
            kind=kind,
            time=at,
            scheduler=PIPE,
            nodes=[who.node] if who.node else [],
            rank=self._run.rank,
            **self._about,
            **how,
        )
