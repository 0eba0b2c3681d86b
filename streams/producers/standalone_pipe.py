"""`schedmate-pipe.pyz`: the pipe as one file, for the environment of a job, where nothing of ours is installed.

It passes bytes through and keeps its promises as `schedmate pipe` does, by the same code. What it ships goes to the collector of the node.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import sys

from .child import run
from .collector_socket import DEFAULT_SOCKET
from .collector_socket import VARIABLE as SOCKET_VARIABLE
from .descriptors import say
from .environment import state_directory
from .pipe_call import NUMBERS, VARIABLE, checked_number, identified
from .pipe_options import UsageError, parse

# Not the one of `typing`, which takes a quarter of the time that the start may cost a job.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..producer import Producer
    from .child import Child
    from .environment import Identity

USAGE = """\
usage: schedmate-pipe.pyz [--job ID] [--attempt N] [--rank N] [--node NAME] [--socket PATH] [-- COMMAND ...]

Pass a job's output through, untouched and at once, and hand a copy to the collector of this node (schedmate collect --socket PATH).
Without a command: standard input to standard output. With one: its stdout and stderr stay apart, its exit code and signals are kept.

  --job ID       the scheduler's job id (default: SLURM_JOB_ID, RAY_JOB_ID, ...)
  --attempt N    restarts before this one (default: SLURM_RESTART_COUNT)
  --rank N       global rank (default: RANK, MPI's, SLURM_PROCID, else 0)
  --node NAME    the scheduler's name of this host (default: host name)
  --socket PATH  where the collector listens (default: SCHEDMATE_SOCKET, else /run/schedmate/collector.sock)

The variables SCHEDMATE_PRODUCER__SOCKET, __DIRECTORY, __SPOOL_MB, __HOLD_SECONDS, __CLOSE_SECONDS, __CHUNK_LINES and __CHUNK_SECONDS
mean what they mean for schedmate pipe.
"""
OPTIONS = ("job", "attempt", "rank", "node", "socket")


def main() -> None:
    """Run the pipe and end as the command does."""
    arguments = sys.argv[1:]
    if arguments[:1] in (["-h"], ["--help"]):
        sys.stdout.write(USAGE)
        return
    faults: list[str] = []
    try:
        options, command = parse(arguments, OPTIONS, faults)
    except UsageError as error:
        say(str(error))
        sys.exit(2)
    identity = identified(options, os.environ, faults)
    numbers = {
        name: checked_number(name, os.environ.get(VARIABLE + name.upper(), default), faults)
        for name, default in NUMBERS.items()
    }
    for fault in faults:
        say(fault)
    run(command, lambda child: _ship(identity, child, options.get("socket"), numbers))


def _ship(
    identity: Identity | None, child: Child | None, socket: str | None, numbers: Mapping[str, int | float]
) -> int:
    """Do the rest, which is loaded while the job runs, and return the exit status."""
    from .pipe import run_pipe  # noqa: PLC0415

    named = os.environ.get(SOCKET_VARIABLE) or os.environ.get(f"{VARIABLE}SOCKET")
    address = socket or named or DEFAULT_SOCKET
    directory = os.environ.get(f"{VARIABLE}DIRECTORY") or state_directory(os.environ)

    def connect() -> Producer:
        from .collector_connection import CollectorConnection  # noqa: PLC0415  in the shipping process alone

        return CollectorConnection(address)

    return run_pipe(identity, child, directory, numbers, connect, receiver="collector")
