"""The first error chunk of a stored log, in O(log n) reads where the log is sorted (SchedMate §3.3, Algorithm 1).

The algorithm supposes clean chunks first, error chunks after. As printed in the paper it can only return -1, because its last test stands
inside the loop; what it means is the search for the boundary. Real logs break the assumption in two ways: lines of a normal shutdown follow
the error, and benign errors come before it. So: gallop back from the end to an error chunk, search the boundary before it, then look at
its neighbours and, doubling, further back. Where one of those is an error chunk too, the log is not sorted; it is then read from the
start, and the result says so.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

CHUNK_LINES = 20
"""Lines of a chunk; a chunk is an error chunk if any of its lines is one."""
NEIGHBOURS = 3
"""Chunks next to a probe that are looked at one by one before the steps double."""


class Located(NamedTuple):
    """The outcome of a search.

    Attributes:
        chunk: Index of the first error chunk; null where there is none.
        reads: Chunks that were read.
        linear: Whether the log was seen not to be sorted, or to show no error, and was read from the start.
    """

    chunk: int | None
    reads: int
    linear: bool


def locate(chunks: int, read_chunk: Callable[[int], bool]) -> Located:
    """Return the first error chunk among `chunks` chunks; `read_chunk(i)` says whether chunk `i` is one. None is read twice."""
    known: dict[int, bool] = {}

    def read(index: int) -> bool:
        if index not in known:
            known[index] = read_chunk(index)
        return known[index]

    error = next((index for index in _back(chunks) if read(index)), None)
    if error is None:
        return _linear(chunks, read, known)
    low, high = -1, error
    while high - low > 1:
        middle = (low + high) // 2
        if read(middle):
            high = middle
        else:
            low = middle
    if any(read(index) for index in _back(high)):
        return _linear(chunks, read, known)
    return Located(high, len(known), linear=False)


def _back(end: int) -> Iterator[int]:
    """Yield indices below `end`: the neighbours, then in doubling steps down to 0."""
    step = 1
    while step <= end:
        yield end - step
        step = step + 1 if step < NEIGHBOURS else step * 2
    if end > 0:
        yield 0


def _linear(chunks: int, read: Callable[[int], bool], known: dict[int, bool]) -> Located:
    first = next((index for index in range(chunks) if read(index)), None)
    return Located(first, len(known), linear=True)
