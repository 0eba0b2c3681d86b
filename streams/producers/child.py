"""Starting the command of a pipe, before anything else is loaded: that is most of what a pipe costs a job.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from .descriptors import hold_standard_descriptors, let_go, say

# Not the one of `typing`, which takes a quarter of the time that the start may cost a job.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORWARDED = frozenset(
    {
        signal.SIGHUP,
        signal.SIGINT,
        signal.SIGQUIT,
        signal.SIGTERM,
        signal.SIGUSR1,
        signal.SIGUSR2,
        signal.SIGALRM,
        signal.SIGCONT,
        signal.SIGWINCH,
        signal.SIGXCPU,
    }
)
"""Signals that go on to the command. Stopping (Ctrl-Z) is left to the terminal, which stops both."""

SI_KERNEL = 0x80
"""`si_code` of a signal that the terminal sent: to the whole foreground group, so the command has it already."""


class Child:
    """A command that runs, with pipes in place of its stdout and stderr; standard input is inherited.

    Attributes:
        command: What it is.
        sources: Read ends of its two streams; none where it could not be started.
        began: When, in seconds since 1970.
        clock: When, on the monotonic clock.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start `command`. Must be called while the process has one thread: its signals are held back until `wait`."""
        hold_standard_descriptors()
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        # Where a parent had the ends of children ignored, nobody would ever learn of this one's.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.command = command
        self.began, self.clock = time.time(), time.monotonic()
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED | {signal.SIGCHLD})
        self._pid = self._status = 0
        pipes = [os.pipe(), os.pipe()]
        self.sources = [read_end for read_end, _ in pipes]
        try:
            self._pid = os.posix_spawnp(
                command[0],
                list(command),
                os.environ if environment is None else environment,
                file_actions=[(os.POSIX_SPAWN_DUP2, pipes[0][1], 1), (os.POSIX_SPAWN_DUP2, pipes[1][1], 2)],
                setsigmask=self._before,
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
            )
        except OSError as error:
            say(f"{command[0]}: {error.strerror}")
            self._status = 127 if isinstance(error, FileNotFoundError) else 126
        let_go(0)  # the command has it
        for _, write_end in pipes:
            os.close(write_end)

    def wait(self) -> int:
        """Wait for the command, passing signals on to it.

        Returns:
            Its exit status, -N where signal N killed it; 127 where it was not found, 126 where it cannot be run.
        """
        while self._pid:
            info = signal.sigwaitinfo(FORWARDED | {signal.SIGCHLD})
            if info.si_signo == signal.SIGCHLD:
                pid, status = os.waitpid(self._pid, os.WNOHANG)
                if pid:
                    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            elif info.si_code != SI_KERNEL:
                with suppress(ProcessLookupError):
                    os.kill(self._pid, info.si_signo)
        return self._status

    def let_signals_through(self) -> None:
        """Take signals as before the command was started."""
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
