"""Readers of traces: one's own CSV, `sacct` output and public traces as published, one file each."""

from .estimates import read_estimates
from .nodes import read_nodes
from .trace import Trace, partitions, read_jobs, read_trace

__all__ = ["Trace", "partitions", "read_estimates", "read_jobs", "read_nodes", "read_trace"]
