"""A bounded memory of what was worked out, cheap to read."""

from typing import Generic, TypeVar

Value = TypeVar("Value")


class GenerationCache(Generic[Value]):
    """A dictionary that forgets what was not used lately.

    Two generations: when the young one is full it becomes the old one, and the old one is dropped. What is found in
    the old one moves to the young. So it holds between `size` and twice `size` entries, and a hit costs one look-up in a plain
    dictionary, where a least-recently-used list would cost several times that.
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"expected a cache size of at least 1, got {size}")
        self.size = size
        self.young: dict[str, Value] = {}
        self._old: dict[str, Value] = {}

    def get(self, key: str) -> Value | None:
        """Return what is remembered for `key`, or None."""
        value = self.young.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: str, value: Value) -> None:
        """Remember `value` for `key`."""
        if len(self.young) >= self.size:
            self._old, self.young = self.young, {}
        self.young[key] = value

    def __len__(self) -> int:
        return len(self.young.keys() | self._old.keys())
