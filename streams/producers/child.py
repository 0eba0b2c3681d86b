"""Starting the command of a pipe, before anything else is loaded: that is most of what a pipe costs a job.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import time
from contextlib import suppress

from .descriptors import hold_standard_descriptors, let_go, say

# Not the one of `typing`, which takes a quarter of the time that the start may cost a job.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
        # Where a parent had the ends of children ignored, the end of this one would be lost.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.command = command
        self.began, self.clock = time.time(), time.monotonic()
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED | {signal.SIGCHLD})
        self._pid = self._status = 0
        self._environment = os.environ if environment is None else environment
        self.sources: list[int] = []
        pipes: list[tuple[int, int]] = []
        try:
            pipes += [os.pipe()]
            pipes += [os.pipe()]
            self.sources = [read_end for read_end, _ in pipes]
            self._pid = os.posix_spawnp(
                command[0],
                list(command),
                self._environment,
                file_actions=[(os.POSIX_SPAWN_DUP2, pipes[0][1], 1), (os.POSIX_SPAWN_DUP2, pipes[1][1], 2)],
                setsigmask=self._before,
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
            )
        except (OSError, ValueError) as error:
            # These errors are not about the command: it can run in place of this process.
            if len(pipes) < 2 or getattr(error, "errno", None) in (
                errno.EAGAIN,
                errno.ENOMEM,
                errno.EMFILE,
                errno.ENFILE,
                errno.ENOSYS,
            ):
                for descriptor in [each for pair in pipes for each in pair]:
                    os.close(descriptor)
                pipes, self.sources = [], []
                self._run_in_place(error)
            else:
                self._cannot_run(error)
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
                    return _exit_status(status)
            elif info.si_code != SI_KERNEL:
                with suppress(ProcessLookupError):
                    os.kill(self._pid, info.si_signo)
        return self._status

    def pass_through(self) -> int:
        """Copy what the command prints and wait for it, with nothing but what is loaded already, and return its exit status."""
        sinks = {source: number + 1 for number, source in enumerate(self.sources)}
        poller = select.poll()
        for source in sinks:
            with suppress(OSError):
                os.set_blocking(source, True)
                poller.register(source, select.POLLIN)
        ended: int | None = None if self._pid else self._status
        while sinks or ended is None:
            # The command's end is noticed within 200 ms where its children keep the streams open.
            ready = poller.poll(200)
            if ended is None:
                ended = self._look()
            elif not ready:
                break  # what the command left running may hold them for ever
            for source, _ in ready:
                if not _copy(source, sinks[source]):
                    poller.unregister(source)
                    del sinks[source]
                    with suppress(OSError):
                        os.close(source)
        return self._status if ended is None else ended

    def _look(self) -> int | None:
        """Pass signals on to the command; return its exit status where it has ended."""
        while (info := signal.sigtimedwait(FORWARDED, 0)) is not None:
            if info.si_code != SI_KERNEL:
                with suppress(ProcessLookupError):
                    os.kill(self._pid, info.si_signo)
        try:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
        except ChildProcessError:
            return self._status
        return _exit_status(status) if pid else None

    def _run_in_place(self, error: Exception) -> None:
        """Become the command, which nothing is shipped of. Returns where it cannot be run."""
        say(f"nothing is shipped, the command runs alone: {error}")
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        try:
            os.execvpe(self.command[0], list(self.command), self._environment)  # noqa: S606
        except (OSError, ValueError) as failure:
            self._cannot_run(failure)

    def _cannot_run(self, error: Exception) -> None:
        say(f"{self.command[0]}: {getattr(error, 'strerror', None) or error}")
        self._status = 127 if isinstance(error, FileNotFoundError) else 126

    def let_signals_through(self) -> None:
        """Take signals as before the command was started."""
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)


def run(command: Sequence[str], ship: Callable[[Child | None], int]) -> None:
    """Start `command` (none: standard input is passed on), hand it to `ship`, and end as the command does.

    What `ship` raises is reported, and the bytes pass through without it.
    """
    child = Child(command) if command else None
    try:
        status = ship(child)
    except Exception as error:  # noqa: BLE001  whatever it is: the job goes on
        say(f"nothing is shipped, bytes only pass through: {type(error).__name__}: {error}")
        status = child.pass_through() if child else copy_input()
    end_like(status)


def copy_input() -> int:
    """Copy standard input to standard output, with nothing but what is loaded already, and return the exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    while _copy(0, 1):
        pass
    return 0


def end_like(status: int) -> None:
    """End this process as `status` states: by the same signal where it is negative, with that exit code otherwise."""
    if sys.stdout is not None:  # closed when this process began
        with suppress(OSError, ValueError):
            sys.stdout.flush()
    if status < 0:
        with suppress(ImportError, OSError, ValueError):
            import resource  # noqa: PLC0415  needed here alone

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core file is enough
        with suppress(OSError, ValueError):  # SIGKILL has no handler to reset
            signal.signal(-status, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-status])
        os.kill(os.getpid(), -status)
    os._exit(128 - status if status < 0 else status)


def _exit_status(status: int) -> int:
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _copy(source: int, sink: int) -> bool:
    """Copy one block. False at the end of the source, or where the reader of the sink is gone."""
    try:
        data = os.read(source, 64 * 1024)
    except OSError:
        return False
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(sink, view) :]
        except BlockingIOError:
            select.select([], [sink], [])
        except BrokenPipeError:
            return False
        except OSError:  # a full disk, for example: the stream goes on
            break
    return bool(data)
