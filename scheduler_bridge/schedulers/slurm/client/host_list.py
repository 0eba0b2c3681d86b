"""Slurm's shorthand for names of hosts, `n[1-3,07],login` or `tux[0-3][0-3]`, whose ranges ClusterShell expands, within bounds."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from ClusterShell.RangeSet import RangeSet, RangeSetException

LIMIT = 65_536
"""Hosts of one list. Slurm itself has no more nodes (MAX_SLURM_NODES in its sources)."""
_NUMBER = r"[0-9]{1,18}(?![0-9])"
_RANGES = rf"{_NUMBER}(?:-{_NUMBER})?(?:,{_NUMBER}(?:-{_NUMBER})?)*"
_PART = re.compile(rf"(?:[A-Za-z_.-]|{_NUMBER}|\[{_RANGES}\])+")
"""A name, or names that differ in numbers. Other characters name groups for ClusterShell, or add and subtract sets."""
_LIST = re.compile(rf"{_PART.pattern}(?:,{_PART.pattern})*")
_BRACKET = re.compile(r"\[([^\]]*)\]")


@lru_cache(maxsize=4096)
def expand(host_list: str) -> tuple[str, ...]:
    """Return the names that a host list means, in its order; what cannot be read, or is too long, is returned as it is."""
    if not host_list:
        return ()
    # A list of 1 MB or more is not expanded.
    if len(host_list) > (1 << 20) or not _LIST.fullmatch(host_list):
        return (host_list,)
    parts = _PART.findall(host_list)
    # ClusterShell holds every number of a range in memory: `n[1-999999999]` would take all there is.
    if not _is_bounded(parts):
        return (host_list,)
    try:
        return tuple(dict.fromkeys(name for part in parts for name in _names(part)))
    except RangeSetException:
        return (host_list,)


def _names(part: str) -> Iterator[str]:
    """Return the names of one part. ClusterShell itself refuses brackets with nothing between them, which Slurm prints."""
    pieces = _BRACKET.split(part)
    texts = pieces[::2]
    ranges = [[number for one in each.split(",") for number in RangeSet(one)] for each in pieces[1::2]]
    for numbers in product(*ranges):
        yield texts[0] + "".join(f"{number}{text}" for number, text in zip(numbers, texts[1:], strict=True))


def _is_bounded(parts: list[str]) -> bool:
    total = 0
    for part in parts:
        size = 1
        for bracket in _BRACKET.findall(part):  # ranges multiply: r[1-9]n[1-9]
            ranges = re.findall(r"(?<![0-9])([0-9]{1,18})-([0-9]{1,18})", bracket)
            size *= bracket.count(",") + 1 + sum(max(0, int(z) - int(a)) for a, z in ranges)
            if size > LIMIT:
                return False
        total += size
    return total <= LIMIT
