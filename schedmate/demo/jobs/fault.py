"""The fault injector: prints what driver and NCCL print when a GPU falls off the bus, then dies as PyTorch does."""

import os
import resource
import sys
import time
from pathlib import Path
from typing import NoReturn

GROUP = "[PG ID 0 PG GUID 0(default_pg) Rank 0]"


def is_due(job: str) -> bool:
    """Return whether the story has come to the fault of `job`: on a busy host a job may be far ahead of what was read of the others."""
    return Path(f"{job}.due").exists()


def gpu_falls_off_the_bus() -> NoReturn:
    """Print it and abort."""
    pid, node = os.getpid(), os.environ.get("LOCAL_NODE", "localhost")
    stamp = time.strftime("%m%d %H:%M:%S")
    lines = [
        f"[{time.monotonic():12.6f}] NVRM: Xid (PCI:0000:3b:00): 79, pid={pid}, name=python, GPU has fallen off the bus.",
        f"{node}:{pid}:{pid + 71} [0] NCCL WARN Cuda failure 999 'unknown error'",
        (
            f"[rank0]:[E{stamp}.481027 ProcessGroupNCCL.cpp:1895] {GROUP} Process group watchdog thread terminated with "
            "exception: CUDA error: unknown error"
        ),
        "terminate called after throwing an instance of 'c10::DistBackendError'",
        f"  what():  {GROUP} NCCL error: unhandled cuda error",
    ]
    sys.stdout.flush()
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core file in anyone's directory
    os.abort()
