"""Reads a question on standard input and prints what the source describes: `python -m processors.advise.metadata`.

It limits itself before it reads anything. A second process reads the tree, under hard limits of processor time and memory, and writes
each field as soon as it is known. So whatever ends that process leaves the fields before it.
"""

import os
import resource
import signal
import sys
from pathlib import Path

import msgspec

from schedmate_records import Workload

from ..branch import branch_of
from ..stranger import bound_this_process
from .bounded import LONGEST_QUESTION, Answer, Question
from .budget import Guard
from .job import Job
from .reading import read

_MEMORY = 128 << 20
"""Bytes that reading one tree may add to this process, which has 30 MB. The largest of 222 jobs adds 38 MB."""
_WORK_S = 1.5
"""Seconds of processor time after which the kernel ends the reader, also inside a function of C."""
_CPU_S = 2
"""The same, where the time passes in the kernel."""
_WALL_S = 20.0
"""Seconds after which the kernel ends a reader that waits, as on a file system that does not answer."""


def main() -> None:
    """Answer one question. Ends with a traceback where the question cannot be read, or the tree is no directory."""
    bound_this_process()
    asked = msgspec.json.decode(sys.stdin.buffer.read(LONGEST_QUESTION), type=Question)
    tree = Path(asked.tree or asked.directory)
    job = Job(tree, Path(asked.directory), asked.command, asked.devices, asked.nodes)
    if not tree.is_dir():
        raise NotADirectoryError(f"expected the directory of a source tree, got {tree}")
    ours, theirs = os.pipe()
    reader = os.fork()
    if reader == 0:
        os.close(ours)
        _read(job, theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        lines = pipe.read().split(b"\n")
    _, status = os.waitpid(reader, 0)
    answer = _answer(lines, job, os.waitstatus_to_exitcode(status))
    answer.branch = branch_of(Path(asked.directory))
    sys.stdout.buffer.write(msgspec.json.encode(answer))


def _read(job: Job, pipe: int) -> None:
    """Write what is found to a pipe, a line of JSON for each field, and end this process."""
    code = 1
    try:
        _limit()
        guard = Guard(timed=True)
        for field in read(job, guard):
            os.write(pipe, msgspec.json.encode(field) + b"\n")
        os.write(pipe, msgspec.json.encode(("failed", guard.failed)) + b"\n")
        code = 0
    finally:
        os._exit(code)


def _limit() -> None:
    for number in (signal.SIGVTALRM, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)  # which ends the process
    signal.setitimer(signal.ITIMER_VIRTUAL, _WORK_S)
    signal.setitimer(signal.ITIMER_REAL, _WALL_S)
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _answer(lines: list[bytes], job: Job, code: int) -> Answer:
    found = dict(msgspec.json.decode(line, type=tuple[str, object]) for line in lines[:-1])
    failed = msgspec.convert(found.pop("failed", {}), dict[str, str])
    if code:
        failed["reading"] = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return Answer(msgspec.convert({"gpus": job.devices * job.nodes, **found}, Workload), failed=failed)


if __name__ == "__main__":
    main()
