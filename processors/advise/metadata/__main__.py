"""Reads a question on standard input and prints what the source says: `python -m processors.advise.metadata`, for a watcher.

It bounds itself before it reads anything: a stranger's source tree is parsed here, in a process that may end at any time.
"""

import sys
from pathlib import Path

import msgspec

from processors.advise.branch import branch_of
from processors.advise.stranger import bound_this_process
from records import Workload

from . import Job, extract

_LONGEST = 1 << 16


class Question(msgspec.Struct):
    """Which job is asked about; see `Job`."""

    directory: str
    command: str
    devices: int = 1
    nodes: int = 1


class Answer(msgspec.Struct):
    """What the source says of it: what it trains, and the branch; empty where there is none."""

    workload: Workload
    branch: str = ""


def main() -> None:
    """Answer one question. Ends with a traceback where the directory cannot be read, and without a word at a limit."""
    bound_this_process()
    asked = msgspec.json.decode(sys.stdin.buffer.read(_LONGEST), type=Question)
    tree = Path(asked.directory)
    found = extract(Job(tree, tree, asked.command, asked.devices, asked.nodes))
    sys.stdout.buffer.write(msgspec.json.encode(Answer(found, branch_of(tree))))


if __name__ == "__main__":
    main()
