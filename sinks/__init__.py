"""ClickHouse and Redis sinks: ClickHouse for history, Redis for the current state."""

from .errors import RecordRejected, SinkRejected, SinkUnavailable, TablesMissing, UnknownFault

__all__ = ["RecordRejected", "SinkRejected", "SinkUnavailable", "TablesMissing", "UnknownFault"]
