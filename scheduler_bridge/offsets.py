"""Which offsets are dealt with: the border up to which nothing is left to do, for each partition."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Partition:
    """One partition.

    Attributes:
        next: The offset after the last one taken.
        committed: The border as the broker knows it.
        open: Offsets taken and not settled, in order.
    """

    next: int
    committed: int
    open: dict[int, None] = field(default_factory=dict)


class Offsets:
    """Offsets are taken in order and settled in any order; the border is the first one that is not settled."""

    def __init__(self) -> None:
        self._partitions: dict[int, _Partition] = {}

    def add(self, partition: int, offset: int) -> None:
        """An offset was read, and is to be settled. Offsets may have gaps, and begin again after a rebalance."""
        found = self._partitions.get(partition)
        if found is None or offset < found.next:
            found = self._partitions[partition] = _Partition(offset, offset)
        found.next = offset + 1
        found.open[offset] = None

    def settle(self, partition: int, offset: int) -> bool:
        """An offset is dealt with. False where it was not open (settled before, or lost to another member)."""
        found = self._partitions.get(partition)
        if found is None or offset not in found.open:
            return False
        del found.open[offset]
        return True

    def ready(self) -> dict[int, int]:
        """Return the border of each partition where it is further than the broker knows."""
        borders = {number: next(iter(found.open), found.next) for number, found in self._partitions.items()}
        return {number: border for number, border in borders.items() if border > self._partitions[number].committed}

    def committed(self, borders: Mapping[int, int]) -> None:
        """The broker knows these borders."""
        for number, border in borders.items():
            if number in self._partitions:
                self._partitions[number].committed = border

    def keep(self, partitions: Collection[int]) -> None:
        """Forget all other partitions."""
        self._partitions = {number: found for number, found in self._partitions.items() if number in partitions}
