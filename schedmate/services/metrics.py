"""Every group of metrics, and the commands that serve it: what docs/metrics.md is made of."""

from collections.abc import Callable
from functools import partial

from processors.job import JobProcessor
from processors.node import NodeMetrics
from processors.settings import ProcessorSettings
from processors.stream_reader import StreamReader
from scheduler_bridge import BridgeMetrics
from scheduler_bridge.schedulers.kubernetes.events.watcher import KubernetesWatcherMetrics
from scheduler_bridge.schedulers.ray.events.watcher import RayWatcherMetrics
from scheduler_bridge.schedulers.slurm.events.watcher import SlurmWatcherMetrics
from sinks.clickhouse.writer import WriterMetrics
from sinks.redis.state import StateMetrics
from streams.model_worker.answering import AnsweringMetrics
from streams.model_worker.answers import AnswerMetrics
from streams.model_worker.pool import ModelMetrics
from streams.producers.gpu.agent import GpuAgentMetrics
from streams.producers.metrics import CollectorMetrics, IntakeMetrics, ShippingMetrics
from streams.resilience.outage import OutageMetrics
from streams.runtimes.metrics import EngineMetrics, PumpMetrics

from ..advisor.metrics import AdvisorMetrics
from ..assembly import line_classifier
from ..notifications.lane import NotifierMetrics
from ..plugins.contained_stage import ContainedStageMetrics
from .job_lines import JobLineMetrics
from .spot import SpotMetrics
from .starts import StartsMetrics

_JOB = JobProcessor(StreamReader(line_classifier(ProcessorSettings())))
"""The processors that ship: the page lists no metrics of plugins."""
GROUPS: tuple[tuple[str, Callable[[], object]], ...] = (
    ("worker", EngineMetrics),
    ("worker", partial(EngineMetrics, "node_worker")),
    *(("worker", type(group)) for group in _JOB.metric_groups()),
    ("worker, with a plugin", partial(ContainedStageMetrics, ["loss_limit"])),
    ("worker", NodeMetrics),
    ("model-worker", AnsweringMetrics),
    ("model-worker", ModelMetrics),
    ("model-worker", AnswerMetrics),
    ("sink, bridge, notify, advisor, spot", PumpMetrics),
    ("sink", WriterMetrics),
    ("sink", partial(OutageMetrics, "ClickHouse")),
    ("sink", StateMetrics),
    ("sink", JobLineMetrics),
    ("sink, starts, advisor", partial(OutageMetrics, "Redis")),
    ("bridge", BridgeMetrics),
    ("spot", SpotMetrics),
    ("starts", StartsMetrics),
    ("spot, starts, advisor", partial(OutageMetrics, "Kafka")),
    ("spot, starts", partial(OutageMetrics, "scheduler")),
    ("notify", NotifierMetrics),
    ("advisor", AdvisorMetrics),
    ("collect", CollectorMetrics),
    ("collect, with --socket", IntakeMetrics),
    ("gpu-agent", GpuAgentMetrics),
    ("watch-scheduler", SlurmWatcherMetrics),
    ("watch-scheduler", KubernetesWatcherMetrics),
    ("watch-scheduler", RayWatcherMetrics),
    ("collect, gpu-agent, watch-scheduler", ShippingMetrics),
)
"""Factories of metric groups, by the commands that serve them."""
