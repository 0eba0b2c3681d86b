r"""Whom the elastic launcher accuses: the block that it prints last names the rank whose failure it observed first.

    Root Cause (first observed failure):
    [0]:
      time      : 2024-05-06_07:08:09
      host      : n1
      rank      : 3 (local_rank: 3)
      exitcode  : 1 (pid: 4242)
      traceback : Traceback (most recent call last): …

The blocks before it are of ranks that failed later; what they quote is told again where it counts.

Source: PyTorch, torch.distributed.elastic.multiprocessing.errors.
"""

import re
from collections.abc import Iterable

from schedmate_records import Evidence

from ..grammar.prefix import strip_prefix

PATTERN = r"Root Cause \(first observed failure\)|^\W*rank\s+: \d+ \(local_rank: \d+\)"
"""RE2, for a line's template: the lines of such a block that are read."""
_HEADER = "Root Cause"
_TORN_DOWN = re.compile(
    r"\bfailed \(exitcode: -?\d+\) local_rank: |\bworker group failed\b|\brestarting worker group\b"
)
_HOOK = re.compile(r"\[rank\d+\]: ?Traceback ")
_RANK = re.compile(r"rank\s+: (\d+) \(local_rank: (\d+)\)")
_TOLD = re.compile(r"\btraceback\s+: Traceback")
_TAG = re.compile(r"\[(?:rank|default)?(\d+)\]|(\d+):|\[\d+,(\d+)\]")


def header(line: str) -> bool:
    """Return whether `line`, which `PATTERN` matches, opens the block; the next rank that is named is the accused."""
    return _HEADER in line


def accused(line: str) -> list[int]:
    """Return the rank that `line` names, as counted in the job and on its node; nothing where it names none."""
    found = _RANK.search(line)
    return [int(found[1]), int(found[2])] if found else []


def reported(support: Iterable[Evidence]) -> bool:
    """Return whether a traceback that begins at one of `support` is one that the block quotes."""
    return any(_TOLD.search(one.text) for one in support)


def torn_down(line: str) -> bool:
    """Return whether `line` tells that the launcher ended all ranks."""
    return _TORN_DOWN.search(line) is not None


def hooked(line: str) -> bool:
    """Return whether `line`, a traceback's first, is PyTorch's own: it labels none but those that end the rank's process."""
    return _HOOK.match(line) is not None


def speaker(line: str) -> int | None:
    """Return the rank that printed `line` as its launcher tells in front of it; None where it does not."""
    found = _TAG.match(strip_prefix(line).tag)
    return int(next(group for group in found.groups() if group)) if found else None
