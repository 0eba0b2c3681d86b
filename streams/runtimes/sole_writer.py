"""Whether anybody else has written into a partition since we began to."""

from typing import Any

_NOTHING_YET = -1


class SoleWriter:
    """Follows the offsets of what is acknowledged: those of one writer alone have no gaps."""

    def __init__(self) -> None:
        self._ends: dict[Any, int] = {}

    def begin(self, part: tuple[str, int]) -> None:
        """Follow `part` (topic, partition) from the next message on."""
        self._ends[part] = _NOTHING_YET

    def forget(self, part: tuple[str, int]) -> None:
        """Follow `part` no more: what became of a message is not known, or another one has written."""
        self._ends.pop(part, None)

    def acknowledged(self, part: tuple[str, int], offset: int, count: int) -> None:
        """Note that `count` messages of ours stand in `part` from `offset` on."""
        end = self._ends.get(part)
        if end in (_NOTHING_YET, offset) and offset >= 0:
            self._ends[part] = offset + count
        elif end is not None:
            self.forget(part)

    def wrote_all(self, part: tuple[str, int], end: int) -> bool:
        """Return whether all of `part` before its `end` is ours, from where we began."""
        return self._ends.get(part) == end
