"""Reads a source tree in a process of its own. A limit of that process ends the reading alone."""

import subprocess
import sys
from pathlib import Path

import msgspec

from processors.advise.metadata import Job
from schedmate_records import NOT_JSON, Workload

LONGEST_QUESTION = 1 << 20
"""Bytes of a question."""
_ROOT = Path(__file__).resolve().parents[2]
"""Directory of our packages."""
_READER = f"{__package__}.read_workload"
_START = f"import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_module({_READER!r}, run_name='__main__')"
"""Starts the reader. With `-P`, Python searches no modules in the working directory, which may be foreign."""


class Question(msgspec.Struct):
    """A job; see `Job`. An empty tree is the directory."""

    directory: str
    command: str
    devices: int = 1
    nodes: int = 1
    tree: str = ""


class Answer(msgspec.Struct):
    """Result of reading the source.

    Attributes:
        workload: Workload of the job; null in each field that is unknown.
        branch: Branch of the working tree; empty if there is none.
        failed: Reason by name of each part of the reading that failed or reached a limit.
    """

    workload: Workload
    branch: str = ""
    failed: dict[str, str] = {}


def extract(job: Job) -> Workload:
    """Return the workload of a job; null in each field that the source does not state, or that could not be read.

    Raises:
        NotADirectoryError: The tree is no directory.
    """
    return ask(job).workload


def ask(job: Job) -> Answer:
    """Return the workload of a job, and the parts of the reading that failed. Fields that were found before a limit are kept.

    Raises:
        NotADirectoryError: The tree is no directory.
    """
    if not job.tree.is_dir():
        raise NotADirectoryError(f"expected the directory of a source tree, got {job.tree}")
    command = job.command.encode("utf-8", errors="replace").decode("utf-8")
    question = Question(str(job.directory.absolute()), command, job.devices, job.nodes, str(job.tree.absolute()))
    process = [sys.executable, "-P", "-c", _START, str(_ROOT)]
    try:
        given = msgspec.json.encode(question)
        # Seconds for the process on a host without a free processor. It ends itself sooner.
        done = subprocess.run(process, input=given, capture_output=True, timeout=60.0, check=False)
        return msgspec.json.decode(done.stdout, type=Answer)
    except (subprocess.TimeoutExpired, OSError, UnicodeEncodeError, *NOT_JSON) as error:
        reason = f"{type(error).__name__}: {error}"[:200]
        return Answer(Workload(gpus=job.devices * job.nodes), failed={"reading": reason})
