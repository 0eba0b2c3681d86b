"""Serves the agent's tools over standard input and output: `python -m processors.advise.agent DIRECTORY`, for a watcher.

One JSON question a line, one JSON text or null a line. So a process with the rights of the job's user looks into the tree, and the one that
asks the model never does.
"""

import sys
from pathlib import Path
from typing import Literal

import msgspec

from ..stranger import bound_this_process
from ..tree import SourceTree
from .tools import Tools

_LONGEST = 1 << 12


class Question(msgspec.Struct):
    """Which tool is used, on what; see `SourceTools`."""

    tool: Literal["file_tree", "file_read", "line"]
    path: str
    line: int = 1


def main() -> None:
    """Answer until there are no more questions. Ends with a traceback where there is no such directory, and without a word at a limit."""
    bound_this_process()
    tools = Tools(SourceTree(Path(sys.argv[1])))
    while raw := sys.stdin.buffer.readline(_LONGEST):
        asked = msgspec.json.decode(raw, type=Question)
        match asked.tool:
            case "file_tree":
                answer: str | None = tools.file_tree(asked.path)
            case "file_read":
                answer = tools.file_read(asked.path, asked.line)
            case _:
                answer = tools.line(asked.path, asked.line)
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
