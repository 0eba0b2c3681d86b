"""What lasts: ClickHouse for history, Redis for now. Knows records, and not how they are made."""

from .errors import RecordRejected, SinkRejected, SinkUnavailable
from .hold import Hold, HoldMetrics

__all__ = ["Hold", "HoldMetrics", "RecordRejected", "SinkRejected", "SinkUnavailable"]
