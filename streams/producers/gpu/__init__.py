"""The GPU agent: NVML samples of every GPU of a node, shipped to the topic `gpu-metrics`."""

from .agent import GpuAgent, GpuAgentCounters
from .nvml import NvmlSource
from .outbox import Outbox, OutboxCounters
from .processes import Owner, owner_of
from .recording import Header, InvalidRecording, RecordingSource, RecordingWriter, shipped_recording
from .source import GpuSource, SourceError, sample_id

__all__ = [
    "GpuAgent",
    "GpuAgentCounters",
    "GpuSource",
    "Header",
    "InvalidRecording",
    "NvmlSource",
    "Outbox",
    "OutboxCounters",
    "Owner",
    "RecordingSource",
    "RecordingWriter",
    "SourceError",
    "owner_of",
    "sample_id",
    "shipped_recording",
]
