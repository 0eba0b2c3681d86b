"""Reads a question on standard input and prints the answer as JSON: `python -m scheduler_bridge.sources.read_workload`.

A second process reads the tree, under hard limits of processor time and memory, and writes each field as soon as it is known. If a limit
ends that process, the fields before it are kept.
"""

import os
import resource
import signal
import sys
from pathlib import Path

import msgspec

from processors.advise.metadata import Job
from processors.advise.metadata.budget import Guard
from processors.advise.metadata.reading import read
from schedmate_records import Workload

from .branch import branch_of
from .limits import bound_this_process
from .tree import DirectoryTree
from .workload import LONGEST_QUESTION, Answer, Question

_CPU_S = 2
"""The same, including the time in the kernel."""


def main() -> None:
    """Answer one question. Ends with a traceback if the question cannot be read, or the tree is no directory."""
    bound_this_process()
    asked = msgspec.json.decode(sys.stdin.buffer.read(LONGEST_QUESTION), type=Question)
    job = Job(Path(asked.tree or asked.directory), Path(asked.directory), asked.command, asked.devices, asked.nodes)
    if not job.tree.is_dir():
        raise NotADirectoryError(f"expected the directory of a source tree, got {job.tree}")
    ours, theirs = os.pipe()
    reader = os.fork()
    if reader == 0:
        _read(job, theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        lines = pipe.read().split(b"\n")
    code = os.waitstatus_to_exitcode(os.waitpid(reader, 0)[1])
    found = dict(msgspec.json.decode(line, type=tuple[str, object]) for line in lines[:-1])
    failed = msgspec.convert(found.pop("failed", {}), dict[str, str])
    if code:
        failed["reading"] = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    workload = msgspec.convert({"gpus": job.devices * job.nodes, **found}, Workload)
    sys.stdout.buffer.write(msgspec.json.encode(Answer(workload, branch_of(job.directory), failed)))


def _read(job: Job, pipe: int) -> None:
    """Write each field to a pipe as a line of JSON, and end this process."""
    code = 1
    try:
        _limit()
        guard = Guard(timed=True)
        for field in read(DirectoryTree(job.tree), job, guard):
            os.write(pipe, msgspec.json.encode(field) + b"\n")
        os.write(pipe, msgspec.json.encode(("failed", guard.failed)) + b"\n")
        code = 0
    finally:
        os._exit(code)


def _limit() -> None:
    for number in (signal.SIGVTALRM, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)  # it ends the process
    # Seconds of processor time after which the kernel ends the reader, also inside a function of C.
    signal.setitimer(signal.ITIMER_VIRTUAL, 1.5)
    # Seconds after which the kernel ends a reader that waits, such as for a file system that does not answer.
    signal.setitimer(signal.ITIMER_REAL, 20.0)
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    # Bytes that reading a tree may add to this process, which has 30 MB. The largest of 222 jobs adds 38 MB.
    most = pages * resource.getpagesize() + (128 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    main()
