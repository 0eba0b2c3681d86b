"""Handling of outages and crashes: retries, and atomic replacement of files."""

from .deadline import Deadline
from .files import replace_file
from .outage import Backoff, Outage, OutageMetrics, retry, retry_within

__all__ = ["Backoff", "Deadline", "Outage", "OutageMetrics", "replace_file", "retry", "retry_within"]
