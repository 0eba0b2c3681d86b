"""Progress of a pipe: bytes that passed, and bytes that are safe. The pass-through and the shipping process share it in memory.

Bytes of a stream are safe once they are acknowledged, in the spool, or counted as lost on disk. What passed and never becomes safe is
lost, and can be counted by the one of the two that is left.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import mmap
import struct
from typing import NamedTuple

from .pieces import START, Mark

_PASSED = struct.Struct("=4Q")
_SAFE = struct.Struct("=4Q")
_SLOTS = (_SAFE.size, 2 * _SAFE.size)
_STREAM = 3 * _SAFE.size
"""For each stream: which of two slots is valid, then the slots. A process that is killed while it writes one leaves the other."""
_EVENTS = _PASSED.size + 2 * _STREAM
_REST = _EVENTS + 8
SIZE = _REST + 8
"""Bytes that are also kept in a file (see `Rest`)."""
_READS = SIZE

STARTED, ENDED = 1, 2
"""Values of `Progress.safe_events`."""


class Totals(NamedTuple):
    """Bytes and newlines of each stream since its beginning."""

    sizes: tuple[int, int] = (0, 0)
    newlines: tuple[int, int] = (0, 0)

    def plus(self, stream: int, size: int, newlines: int) -> Totals:
        """Return the totals after `size` more bytes of `stream` with so many newlines."""
        if stream == 0:
            return Totals((self.sizes[0] + size, self.sizes[1]), (self.newlines[0] + newlines, self.newlines[1]))
        return Totals((self.sizes[0], self.sizes[1] + size), (self.newlines[0], self.newlines[1] + newlines))


class Progress:
    """The counts. Each process writes its own part and reads the other's.

    Args:
        content: Counts that were stored; without them all are zero.
    """

    def __init__(self, content: bytes = b"") -> None:
        self._memory = mmap.mmap(-1, SIZE + 8)
        self._memory[: len(content)] = content
        self._words = memoryview(self._memory).cast("Q")

    # --- written by the pass-through ----------------------------------------------------------------------------------

    def add_passed(self, stream: int, size: int, newlines: int) -> None:
        """Count bytes of `stream` that passed."""
        self._words[2 * stream] += size
        self._words[2 * stream + 1] += newlines

    @property
    def passed(self) -> Totals:
        """Bytes that passed."""
        words = self._words
        return Totals((words[0], words[2]), (words[1], words[3]))

    @property
    def passed_bytes(self) -> bytes:
        """The part of the pass-through, to be stored at the beginning."""
        return self._memory[: _PASSED.size]

    @property
    def has_rest(self) -> bool:
        """True once there is a directory for what is left (see `Rest`)."""
        return bool(self._words[_REST // 8])

    def set_has_rest(self) -> None:
        """Note that there is one."""
        self._words[_REST // 8] = 1

    # --- written by the shipping process ------------------------------------------------------------------------------

    def set_safe(self, stream: int, mark: Mark, seq: int) -> None:
        """Store that everything of `stream` before `mark` is safe; the chunk after it has the number `seq`."""
        at = _PASSED.size + stream * _STREAM
        slot = 1 - self._words[at // 8]
        start = at + _SLOTS[slot]
        self._memory[start : start + _SAFE.size] = _SAFE.pack(*mark, seq)
        self._words[at // 8] = slot

    def safe(self, stream: int) -> tuple[Mark, int]:
        """Return up to where everything of `stream` is safe, and the number of the next chunk."""
        at = _PASSED.size + stream * _STREAM
        offset, line, piece, seq = _SAFE.unpack_from(self._memory, at + _SLOTS[self._words[at // 8] & 1])
        return (Mark(offset, line, piece), seq) if piece else (START, 0)

    @property
    def safe_events(self) -> int:
        """Number of the pipe's two events, start and end, that are safe or need not be sent."""
        return self._words[_EVENTS // 8]

    @safe_events.setter
    def safe_events(self, number: int) -> None:
        self._words[_EVENTS // 8] = number

    @property
    def reads(self) -> bool:
        """True once the shipping process has loaded what it needs, and reads. The pass-through resets it before each start."""
        return bool(self._words[_READS // 8])

    @reads.setter
    def reads(self, reads: bool) -> None:
        self._words[_READS // 8] = reads

    @property
    def safe_bytes(self) -> bytes:
        """The part of the shipping process, to be stored behind the other."""
        return self._memory[_PASSED.size : _REST]


SAFE_AT = _PASSED.size
"""Offset of `safe_bytes`."""
