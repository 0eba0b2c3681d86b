"""Evidence from elsewhere: what a node's kernel log and its GPUs' samples say of the failures of the jobs that ran there."""

from .corroborate import corroborate
from .gpu import GpuReader
from .log import NodeLogReader
from .witness import NodeWitness, WitnessMetrics, WitnessState

__all__ = [
    "GpuReader",
    "NodeLogReader",
    "NodeWitness",
    "WitnessMetrics",
    "WitnessState",
    "corroborate",
]
