"""Everything that is counted: the counters of each component. The one list behind `/metrics` and docs/metrics.md."""

from processors.alarms.monitor import AlarmCounters
from processors.checkpoints import CheckpointCounters
from processors.classify.classifier import ClassifyCounters
from processors.diagnose.handler import DiagnoseCounters
from processors.diagnose.nodes import WitnessCounters
from processors.interference.monitor import InterferenceCounters
from processors.models.answers import AnswerCounters
from processors.models.asker import AskerCounters
from processors.models.inquirer import InquirerCounters
from processors.models.pool import ModelCounters
from processors.models.reviewer import ReviewCounters
from processors.node import NodeCounters
from processors.stream_reader import Counters as ProcessorCounters
from processors.track.tracker import TrackCounters
from scheduler_bridge import BridgeCounters
from sinks import HoldCounters
from sinks.clickhouse import WriterCounters
from sinks.redis import StateCounters
from streams.producers.counters import ShippingCounters
from streams.producers.gpu import GpuAgentCounters, OutboxCounters
from streams.producers.slurm_events.watcher import SlurmWatcherCounters
from streams.runtimes.engine import Counters as WorkerCounters
from streams.runtimes.pump import Counters as PumpCounters

COMPONENTS: dict[str, tuple[type, str]] = {
    "worker": (WorkerCounters, "worker"),
    "node_worker": (WorkerCounters, "worker"),
    "processors": (ProcessorCounters, "worker"),
    "classifier": (ClassifyCounters, "worker"),
    "tracker": (TrackCounters, "worker"),
    "failure_handler": (DiagnoseCounters, "worker"),
    "interference_monitor": (InterferenceCounters, "worker"),
    "alarm_monitor": (AlarmCounters, "worker"),
    "checkpoints": (CheckpointCounters, "worker"),
    "nodes": (NodeCounters, "worker"),
    "node_witness": (WitnessCounters, "worker"),
    "reviewer": (ReviewCounters, "worker"),
    "inquirer": (InquirerCounters, "worker, with a language model"),
    "asker": (AskerCounters, "worker, with a language model"),
    "language_model": (ModelCounters, "worker, with a language model"),
    "answers": (AnswerCounters, "worker, with a language model"),
    "pump": (PumpCounters, "sink, bridge"),
    "clickhouse": (WriterCounters, "sink"),
    "clickhouse_hold": (HoldCounters, "sink"),
    "redis": (StateCounters, "sink"),
    "redis_hold": (HoldCounters, "sink"),
    "bridge": (BridgeCounters, "bridge"),
    "collector": (ShippingCounters, "collect"),
    "gpu_agent": (GpuAgentCounters, "gpu-agent"),
    "gpu_outbox": (OutboxCounters, "gpu-agent"),
    "slurm_watcher": (SlurmWatcherCounters, "watch-scheduler"),
}
"""Counters and the commands that serve them, by component."""
