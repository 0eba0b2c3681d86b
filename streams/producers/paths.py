r"""Finds the job of a file in its path.

A pattern is a regular expression with a group named `job` and, where the path holds them, `rank`, `stream`, `attempt`, `node` and `cluster`
(a Slurm cluster other than the local one): `(?P<job>\d+)_(?P<rank>\d+)\.(?P<stream>out|err)$`.
"""

import re

from schedmate_records import LogChunk, NodeLogChunk, UserError
from schedmate_records.cluster_names import LOCAL, qualified

GROUPS = frozenset({"job", "rank", "stream", "attempt", "node", "cluster"})


class InvalidPattern(UserError, ValueError):
    """A pattern that cannot find a job in a path; the message states what is missing."""


class JobPattern:
    """Compiled pattern.

    Raises:
        InvalidPattern: Not a regular expression, no group `job`, or a group of another name.
    """

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = re.compile(pattern)
        except re.error as error:
            raise InvalidPattern(f"expected a regular expression, got {pattern!r}: {error}") from error
        groups = set(self._pattern.groupindex)
        if "job" not in groups or groups - GROUPS:
            raise InvalidPattern(
                f"expected a group (?P<job>…) and at most {', '.join(sorted(GROUPS - {'job'}))} besides, "
                f"got the groups {sorted(groups)} in {pattern!r}"
            )

    def read(self, path: str, node: str) -> LogChunk | None:
        """Return an empty chunk of the job that `path` names; None where it names none, or a number that is none."""
        found = self._pattern.search(path)
        if found is None or not found["job"]:
            return None
        said = {name: value for name, value in found.groupdict().items() if value}
        numbers = [said.get("rank", "0"), said.get("attempt", "0")]
        if not all(number.isascii() and number.isdecimal() for number in numbers):
            return None
        return LogChunk(
            job=qualified(said.get("cluster", LOCAL), said["job"]),
            rank=int(numbers[0]),
            attempt=int(numbers[1]),
            node=said.get("node", node),
            stream={"err": "stderr", "stderr": "stderr", "e": "stderr"}.get(said.get("stream", ""), "stdout"),
            lines=[],
            time=0.0,
        )


def node_log(path: str, node: str) -> NodeLogChunk:
    """Return an empty chunk of a node's log: `kernel` where the file's name shows that (`kern.log`, `dmesg`), else `system`."""
    name = path.rsplit("/", 1)[-1]
    source = "kernel" if "kern" in name or "dmesg" in name else "system"
    return NodeLogChunk(node=node, source=source, lines=[], time=0.0)
