"""One process of a job: started on one core, read through pipes, ended with all its children."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO


class Task:
    """A process in a group of its own, with non-blocking pipes. `streams` holds those that have not ended."""

    def __init__(
        self, command: Sequence[str], rank: int, environment: Mapping[str, str], directory: str, core: int
    ) -> None:
        """Start it.

        Raises:
            OSError: The program or the directory is not there.
        """
        self.rank = rank
        self._process = subprocess.Popen(
            command,
            env=dict(environment),
            cwd=directory or None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A group, not a session: Linux gives every session an equal share of the processor (autogroup), so that packed jobs
            # would not share their core by what each asks of it.
            process_group=0,
        )
        if hasattr(os, "sched_setaffinity"):
            # Set from outside, at once: threads that the program starts later inherit it.
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(self._process.pid, {core})
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.streams: dict[str, IO[bytes]] = {"stdout": self._process.stdout, "stderr": self._process.stderr}
        for pipe in self.streams.values():
            os.set_blocking(pipe.fileno(), False)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def exit(self) -> int | None:
        """Its exit code, the negative number of the signal that ended it, or None while it runs."""
        return self._process.poll()

    def read(self, stream: str) -> bytes | None:
        """Return what a stream holds now, empty at its end; None where there is nothing to read yet."""
        try:
            # A pipe holds 64 KiB.
            return os.read(self.streams[stream].fileno(), 65536)
        except BlockingIOError:
            return None

    def signal(self, number: int) -> None:
        """Send a signal to the process and all its children."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def close(self) -> None:
        """End what is left of its group, and let go of its pipes."""
        self.signal(signal.SIGKILL)
        self._process.wait()
        for pipe in self.streams.values():
            pipe.close()
        self.streams = {}
