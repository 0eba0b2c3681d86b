"""Changes of topics, for pages that follow them."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Change:
    """Something was written to `topic`, under `key`; an empty key: under any."""

    topic: str
    key: str = ""


class ChangeSource(Protocol):
    """Reports changes."""

    def new(self) -> set[Change]:
        """Return what changed since the last call. Raises `TransportError`; the next call tries again."""

    def close(self) -> None:
        """Let go of the connection."""
