"""What lasts: ClickHouse for history, Redis for now. Knows records, and not how they are made."""

from .errors import RecordRejected, SinkRejected, SinkUnavailable
from .hold import Hold, HoldCounters

__all__ = ["Hold", "HoldCounters", "RecordRejected", "SinkRejected", "SinkUnavailable"]
