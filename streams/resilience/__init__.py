"""How programs get over outages and crashes: waiting for what is away, and replacing files in one step. Imports nothing of ours."""

from .deadline import Deadline
from .files import replace_file
from .outage import Backoff, Outage, OutageMetrics, retry, retry_within

__all__ = ["Backoff", "Deadline", "Outage", "OutageMetrics", "replace_file", "retry", "retry_within"]
