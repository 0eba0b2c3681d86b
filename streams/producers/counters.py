"""Counters of shipping, the same for all producers.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass
class ShippingCounters:
    """Numbers of one producer since its start."""

    acknowledged: int = 0
    """Messages that the broker has acknowledged."""
    waiting: int = 0
    """Messages in memory that it has not acknowledged yet (a gauge)."""
    spooled_chunks: int = 0
    """Chunks that went to disk."""
    spooled_bytes: int = 0
    """Bytes in spool files now (a gauge)."""
    lost: int = 0
    """Lines, or GPU samples, given up because disk or memory was full, or because they were refused for good."""
    sends_failed: int = 0
    """Sends, and attempts to connect, that failed."""
    broker_up: bool = False
    """1 now where the broker acknowledges what is sent (a gauge)."""


class Unsent(NamedTuple):
    """Lines that `Shipper.close` could not send: kept on disk, or lost."""

    kept: int
    lost: int
