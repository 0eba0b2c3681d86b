"""What lasts: ClickHouse for history, Redis for now. Knows records, and not how they are made."""

from .errors import RecordRejected, SinkRejected, SinkUnavailable, TablesMissing, UnknownFault

__all__ = ["RecordRejected", "SinkRejected", "SinkUnavailable", "TablesMissing", "UnknownFault"]
