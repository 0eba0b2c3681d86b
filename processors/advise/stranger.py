"""Limits of a process that reads a stranger's source tree: it may end at any time."""

import resource

CPU_S = 5
MEMORY = 1 << 30


def bound_this_process() -> None:
    """Leave this process little time and memory, and no file that it could write."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
