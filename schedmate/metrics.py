"""Every group of metrics, and the commands that serve it: what docs/metrics.md is made of."""

from collections.abc import Callable
from functools import partial

from processors.alarms.monitor import AlarmMetrics
from processors.classify.classifier import ClassifierMetrics
from processors.diagnose.handler import HandlerMetrics
from processors.diagnose.nodes import WitnessMetrics
from processors.interference.monitor import InterferenceMetrics
from processors.models.answers import AnswerMetrics
from processors.models.asker import AskerMetrics
from processors.models.inquirer import InquirerMetrics
from processors.models.pool import ModelMetrics
from processors.models.reviewer import ReviewMetrics
from processors.node import NodeMetrics
from processors.stream_reader import ReaderMetrics
from processors.track.tracker import TrackerMetrics
from scheduler_bridge import BridgeMetrics
from sinks import HoldMetrics
from sinks.clickhouse import WriterMetrics
from sinks.redis import StateMetrics
from streams.producers.gpu import GpuAgentMetrics, OutboxMetrics
from streams.producers.metrics import ShippingMetrics
from streams.producers.slurm_events.watcher import SlurmWatcherMetrics
from streams.runtimes.metrics import EngineMetrics, PumpMetrics

GROUPS: tuple[tuple[str, Callable[[], object]], ...] = (
    ("worker", EngineMetrics),
    ("worker", partial(EngineMetrics, "node_worker")),
    ("worker", ReaderMetrics),
    ("worker", ClassifierMetrics),
    ("worker", TrackerMetrics),
    ("worker", HandlerMetrics),
    ("worker", InterferenceMetrics),
    ("worker", AlarmMetrics),
    ("worker", NodeMetrics),
    ("worker", WitnessMetrics),
    ("worker", ReviewMetrics),
    ("worker, with a language model", InquirerMetrics),
    ("worker, with a language model", AskerMetrics),
    ("worker, with a language model", ModelMetrics),
    ("worker, with a language model", AnswerMetrics),
    ("sink, bridge", PumpMetrics),
    ("sink", WriterMetrics),
    ("sink", partial(HoldMetrics, "ClickHouse")),
    ("sink", StateMetrics),
    ("sink", partial(HoldMetrics, "Redis")),
    ("bridge", BridgeMetrics),
    ("collect", ShippingMetrics),
    ("gpu-agent", GpuAgentMetrics),
    ("gpu-agent", OutboxMetrics),
    ("watch-scheduler", SlurmWatcherMetrics),
)
"""What makes each group, by the commands that serve it."""
