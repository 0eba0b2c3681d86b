"""Limits of a process that reads an untrusted source tree. The kernel ends the process when it reaches one."""

import resource

CPU_S = 5  # seconds of processor time; the largest of 222 jobs takes less than one
MEMORY = 1 << 30  # bytes of address space


def bound_this_process() -> None:
    """Limit this process to a few seconds, a gigabyte of memory, and no writes to files."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
