"""Evidence from elsewhere: what a node's kernel log and its GPUs' samples say of the failures of the jobs that ran there."""

from .corroborate import corroborate
from .gpu import GpuReader
from .log import NodeLogReader
from .stays import StaysState, end, follow
from .witness import NodeWitness, WitnessMetrics, WitnessState

__all__ = [
    "GpuReader",
    "NodeLogReader",
    "NodeWitness",
    "StaysState",
    "WitnessMetrics",
    "WitnessState",
    "corroborate",
    "end",
    "follow",
]
