"""Whether anybody else has written into a partition since we began to, and where."""

Part = tuple[str, int]
"""Topic and partition."""


class SoleWriter:
    """Follows the offsets of what is acknowledged: those of one writer alone have no gaps."""

    def __init__(self) -> None:
        self._ends: dict[Part, int] = {}
        self._gaps: dict[Part, tuple[int, int | None]] = {}
        self._shared: set[Part] = set()

    def begin(self, part: Part, end: int) -> None:
        """Follow `part` from offset `end` on."""
        self._ends[part] = end
        self._gaps.pop(part, None)
        self._shared.discard(part)

    def forget(self, part: Part) -> None:
        """Note that it is not known whether a message of ours is in `part`."""
        self._shared.add(part)

    def acknowledged(self, part: Part, offset: int, count: int) -> None:
        """Note that `count` messages of ours are in `part` from `offset` on; below 0 the place is not known."""
        end = self._ends.get(part)
        if end is None:
            return
        if offset < 0:
            self._see(part, end, None)
            return
        if offset != end:
            self._see(part, min(end, offset), offset)
        self._ends[part] = offset + count

    def wrote_all(self, part: Part, end: int) -> bool:
        """Return whether all of `part` before its `end` is ours, from where we began."""
        return part not in self._shared and self._ends.get(part) == end

    def take_gap(self, part: Part) -> tuple[int, int | None] | None:
        """Return once between which offsets others may have written: begin, and end or None for all that is there."""
        return self._gaps.pop(part, None)

    def _see(self, part: Part, begin: int, end: int | None) -> None:
        known = self._gaps.get(part)
        self._gaps[part] = (begin, end) if known is None else (min(known[0], begin), end)
        self._shared.add(part)
