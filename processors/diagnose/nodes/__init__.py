"""Evidence of nodes: findings in kernel logs and GPU samples, weighed against the verdicts on the jobs that ran there."""

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
