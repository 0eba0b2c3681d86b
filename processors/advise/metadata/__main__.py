"""Reads a question on standard input and prints the metadata record: `python -m processors.advise.metadata`, for a watcher.

It bounds itself before it reads anything: a stranger's source tree is parsed here, in a process that may end at any time.
"""

import resource
import sys
from pathlib import Path

import msgspec

from . import Job, extract

CPU_S = 5
MEMORY = 1 << 30
_LONGEST = 1 << 16


class Question(msgspec.Struct):
    """Which job is asked about; see `Job`."""

    directory: str
    command: str
    devices: int = 1
    nodes: int = 1


def main() -> None:
    """Answer one question. Ends with a traceback where the directory cannot be read, and without a word at a limit."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = msgspec.json.decode(sys.stdin.buffer.read(_LONGEST), type=Question)
    tree = Path(asked.directory)
    found = extract(Job(tree, tree, asked.command, asked.devices, asked.nodes))
    sys.stdout.buffer.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main()
