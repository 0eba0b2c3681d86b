"""The GPU agent: NVML samples of every GPU of a node, shipped to the topic `gpu-metrics`."""

from .agent import GpuAgent, GpuAgentMetrics
from .nvml import NvmlSource
from .processes import Owner, owner_of
from .recording import InvalidRecording, RecordingHeader, RecordingSource, RecordingWriter, shipped_recording
from .source import GpuError, GpuSource, sample_id

__all__ = [
    "GpuAgent",
    "GpuAgentMetrics",
    "GpuError",
    "GpuSource",
    "InvalidRecording",
    "NvmlSource",
    "Owner",
    "RecordingHeader",
    "RecordingSource",
    "RecordingWriter",
    "owner_of",
    "sample_id",
    "shipped_recording",
]
