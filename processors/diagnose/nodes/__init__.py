"""Evidence from elsewhere: what a node's kernel log and its GPUs' samples say of the failures of the jobs that ran there."""

from .corroborate import corroborate
from .evidence import NodeEvidence
from .finding import Finding
from .gpu import GpuReader
from .log import NodeLogReader

__all__ = ["Finding", "GpuReader", "NodeEvidence", "NodeLogReader", "corroborate"]
