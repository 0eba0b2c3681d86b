"""A process in the background of a job: nothing waits for it, and it takes no processor that the job could use.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from .descriptors import let_go

NICENESS = 10
"""Takes about 10 % of a busy processor, and all of an idle one (sched(7)).

At 19 it would be 1.5 %: where every processor is busy, loading the Kafka client alone, 0.5 s of processor time, would take half a minute.
"""


def step_aside(*keep: int, nice: bool = True) -> None:
    """Make this process, a fork, one that the job does not notice.

    It leaves the job's session, so that signals to the job do not reach it, and holds no descriptor but `keep`: somebody may wait
    for the last holder of a pipe or a lock to close it. It takes a low priority, if `nice` is true.
    """
    with suppress(OSError):  # it leads its session already
        os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if nice:
        yield_to_others()
    let_go(0, 1, 2)
    first = 3
    for descriptor in sorted(keep):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def yield_to_others() -> None:
    """Take a low priority, of this process among its session's and, where the kernel groups by sessions, of the session."""
    with suppress(OSError):
        os.nice(NICENESS)
    with suppress(OSError):  # no kernel with autogroups
        group = os.open("/proc/self/autogroup", os.O_WRONLY)
        try:
            os.write(group, b"%d" % NICENESS)
        finally:
            os.close(group)
