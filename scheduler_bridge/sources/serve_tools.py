"""Serves the agent's tools over standard input and output: `python -m scheduler_bridge.sources.serve_tools DIRECTORY`.

Each line of input is a question in JSON, and each line of output its answer, a text or null. The process runs as the job's
user. The process that asks the model does not open the tree.
"""

import sys
from pathlib import Path
from typing import Literal

import msgspec

from processors.advise.agent import Tools

from .limits import bound_this_process
from .tree import DirectoryTree


class Question(msgspec.Struct):
    """Which tool is used, on what; see `SourceTools`."""

    tool: Literal["file_tree", "file_read", "line"]
    path: str
    line: int = 1


def main() -> None:
    """Answer until the input ends. A missing directory ends the process with a traceback, and a limit ends it without one."""
    bound_this_process()
    tools = Tools(DirectoryTree(Path(sys.argv[1])))
    while raw := sys.stdin.buffer.readline(1 << 12):
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
