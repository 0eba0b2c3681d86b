"""Reads a source tree in a process of its own, which may end at any time.

A limit of this process would end other work, too. That of the reader ends the reader alone.
"""

import subprocess
import sys
from pathlib import Path

import msgspec

from schedmate_records import NOT_JSON, Workload

from .job import Job

LONGEST_QUESTION = 1 << 20
"""Bytes of a question."""
_ROOT = Path(__file__).resolve().parents[3]
"""Directory of our packages."""
_START = f"import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_module({__package__!r}, run_name='__main__')"
"""Starts this package of this directory. With `-P`, Python looks for no module in the working directory, which may be foreign."""
_LIMIT_S = 60.0
"""Seconds in which the process must have started and ended. It ends itself sooner; this is for a host without a free processor."""


class Question(msgspec.Struct):
    """Which job is asked about; see `Job`. An empty tree is the directory."""

    directory: str
    command: str
    devices: int = 1
    nodes: int = 1
    tree: str = ""


class Answer(msgspec.Struct):
    """What the source describes.

    Attributes:
        workload: What the job trains; null in each field that is unknown.
        branch: Branch of the working tree; empty where there is none.
        failed: Reason by name of each part of the reading that failed or reached a limit.
    """

    workload: Workload
    branch: str = ""
    failed: dict[str, str] = {}


def extract(job: Job) -> Workload:
    """Return what a job is; null in each field that the source does not say, or that could not be read.

    Raises:
        NotADirectoryError: The tree is no directory.
    """
    return ask(job).workload


def ask(job: Job) -> Answer:
    """Return what a job is, and which parts of the reading failed. Of a reader that dies, the fields that it found are kept.

    Raises:
        NotADirectoryError: The tree is no directory.
    """
    if not job.tree.is_dir():
        raise NotADirectoryError(f"expected the directory of a source tree, got {job.tree}")
    tree, directory = str(job.tree.absolute()), str(job.directory.absolute())
    command = job.command.encode("utf-8", errors="replace").decode("utf-8")
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _START, str(_ROOT)],
            input=msgspec.json.encode(Question(directory, command, job.devices, job.nodes, tree)),
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
        )
        return msgspec.json.decode(done.stdout, type=Answer)
    except (subprocess.TimeoutExpired, OSError, UnicodeEncodeError, *NOT_JSON) as error:
        reason = f"{type(error).__name__}: {error}"[:200]
        return Answer(Workload(gpus=job.devices * job.nodes), failed={"reading": reason})
