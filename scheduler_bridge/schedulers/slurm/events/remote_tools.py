"""The agent's tools on a source tree, in a process of the job's user: this one never opens a file of theirs."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO

import msgspec

from processors.advise.agent.tools import REFUSED
from schedmate_records import NOT_JSON

from ..client.as_user import start_as


class SourceGone(Exception):
    """The process that looks into the tree has ended, or its answer is not one of a tool."""


class RemoteTools:
    """`processors.advise.agent.SourceTools` of a job's source tree. Use it as a context: it ends the process. Not safe for threads.

    Args:
        directory: Of the source tree.

    Raises:
        SlurmError: There is no such user, or this process may not act for them.
    """

    def __init__(self, user: str, directory: str) -> None:
        command = [sys.executable, "-I", "-m", "scheduler_bridge.sources.serve_tools", directory]
        self._process: subprocess.Popen[bytes] = start_as(user, command)

    def __enter__(self) -> "RemoteTools":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        self._process.wait()
        for pipe in self._pipes():
            with suppress(OSError):  # a question that was not read
                pipe.close()

    def end(self) -> None:
        """End the process, from any thread. Callers that wait for an answer get `SourceGone`."""
        self._process.kill()

    def file_tree(self, path: str) -> str:
        """Return the files below a directory. Raises `SourceGone`."""
        return self._ask("file_tree", path) or REFUSED

    def file_read(self, path: str, line: int) -> str:
        """Return lines of a file from `line` on. Raises `SourceGone`."""
        return self._ask("file_read", path, line) or REFUSED

    def line(self, path: str, number: int) -> str | None:
        """Return a line that the model was shown; null where it was not. Raises `SourceGone`."""
        return self._ask("line", path, number)

    def _ask(self, tool: str, path: str, line: int = 1) -> str | None:
        into, out = self._pipes()
        try:
            into.write(msgspec.json.encode({"tool": tool, "path": path, "line": line}) + b"\n")
            into.flush()
            # A user's process writes the answer, which is not trusted: at most 256 KB.
            said = out.readline(1 << 18)
            return msgspec.json.decode(said, type=str | None)
        except (OSError, ValueError, *NOT_JSON) as error:
            raise SourceGone("expected an answer of the process that reads the source tree, got none") from error

    def _pipes(self) -> Sequence[IO[bytes]]:
        assert self._process.stdin
        assert self._process.stdout
        return self._process.stdin, self._process.stdout
