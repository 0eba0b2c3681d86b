"""Slurm's shorthand for names of hosts: `n[1-3,07],login` (see the manual of `scontrol show hostnames`)."""

import re
from itertools import product

_PART = re.compile(r"(?:[^,\[\]]|\[[^\]]*\])+")
_PIECE = re.compile(r"\[([^\]]*)\]|([^\[\]]+)")
_LIMIT = 100_000


def expand(host_list: str) -> list[str]:
    """Return the names that a host list stands for; what cannot be read stands for itself."""
    names: list[str] = []
    for part in _PART.findall(host_list):
        pieces = [_range(inner) if inner else [text] for inner, text in _PIECE.findall(part)]
        names += ["".join(choice) for choice in product(*pieces)] if _size(pieces) <= _LIMIT else [part]
    return names


def _range(inner: str) -> list[str]:
    values: list[str] = []
    for item in inner.split(","):
        first, dash, last = item.partition("-")
        if dash and first.isdecimal() and last.isdecimal() and int(last) - int(first) <= _LIMIT:
            values += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
        else:
            values.append(item)
    return values


def _size(pieces: list[list[str]]) -> int:
    size = 1
    for piece in pieces:
        size *= len(piece)
    return size
