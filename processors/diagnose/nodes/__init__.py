"""Evidence from elsewhere: what a node's kernel log and its GPUs' samples say of the failures of the jobs that ran there."""

from .corroborate import corroborate
from .evidence import NodeEvidence, NodeEvidenceMetrics, NodeEvidenceState
from .gpu import GpuReader
from .log import NodeLogReader

__all__ = [
    "GpuReader",
    "NodeEvidence",
    "NodeEvidenceMetrics",
    "NodeEvidenceState",
    "NodeLogReader",
    "corroborate",
]
