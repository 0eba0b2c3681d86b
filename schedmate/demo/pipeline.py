"""All packages at work in one process: producers → processors → sink and bridge, on a broker in memory."""

import socket
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from clickhouse_connect.driver.client import Client

from processors.settings import ProcessorSettings
from schedmate_records import Action, LogChunk, Mode, Record
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.bridge import Accepted
from scheduler_bridge.schedulers.local.actuator import LocalActuator, StreamOutput
from scheduler_bridge.selectors import Selector
from sinks.clickhouse.client import open_client
from sinks.clickhouse.migrate import migrate
from sinks.clickhouse.tables import STORED_TOPICS
from sinks.clickhouse.writer import ClickHouseWriter
from streams.memory import MemoryBroker
from streams.producers.chunker import Chunker, Ready
from streams.producers.gpu.agent import GpuAgent
from streams.producers.gpu.nvml import NvmlSource
from streams.producers.gpu.recording import RecordingSource, shipped_recording
from streams.producers.gpu.source import GpuError, GpuSource
from streams.producers.pieces import PieceSplitter
from streams.resilience import Outage
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.runtimes.pump import Batch, Pump
from streams.transport import outgoing

from ..assembly import job_processor, node_processor
from ..services.sink import Sinks, StoreWriter
from .cluster import Cluster

BRIDGED = ("failures", "slowdowns", "decisions", "decision-results", "job-events", "checkpoints", "approvals")
SETTINGS = BridgeSettings(
    modes={
        Action.RESTART: Mode.ACT,
        Action.CANCEL_PACKING: Mode.ACT,
        Action.EVICT: Mode.ACT,
        Action.DRAIN: Mode.APPROVE,
    },
    evict_for=(Selector.parse("partition=urgent"),),
    evictable=(Selector.parse("partition=spot"),),
    evict_wait_seconds=0.0,
    evict_grace_seconds=0.0,
    evict_yield_seconds=1.0,
)
"""Modes of the demo's actions."""
POLL_S = 0.002
"""Nothing waits for input: the loop comes back soon anyway."""


class Pipeline:
    """The services of production in one process, stepped in turn by one loop.

    Args:
        directory: Where the jobs run.
        database: Directory of the embedded ClickHouse.
    """

    def __init__(self, directory: Path, database: Path) -> None:
        self.broker = MemoryBroker()
        url = f"chdb://{database}"
        self.client: Client = open_client(url)
        migrate(self.client)
        self.writer = ClickHouseWriter(lambda: open_client(url))
        self.shipping = _Shipping(self.publish)
        self.gpus = _Gpus(self.broker)
        self.processor = job_processor(ProcessorSettings())
        nodes = Engine(node_processor(ProcessorSettings()))
        self._worker = LocalWorker(self.broker, [Engine(self.processor), nodes])
        self.cluster = Cluster(directory / "jobs", self.publish, self.shipping.add_output)
        self._bridge = Bridge(LocalActuator(self.cluster.scheduler), SETTINGS, self.publish)
        sinks = Sinks([StoreWriter("ClickHouse", self.writer.write, Outage("ClickHouse"))], threading.Event())
        producer = self.broker.producer()
        self._acting = Pump(self.broker.consumer("bridge", BRIDGED), producer, self._accept, seconds=POLL_S)
        self._storing = Pump(
            self.broker.consumer("sink", STORED_TOPICS), producer, sinks.write, rows=20_000, seconds=POLL_S
        )
        self._stored = time.monotonic()
        self._asked = 0.0
        self._wants: float | None = None

    def step(self) -> None:
        """Let every part do what there is to do."""
        self.shipping.flush_due()
        while self._worker.step():
            pass
        if self._acting.step() or time.monotonic() >= self._asked:
            self._wants = self._bridge.advance()
            self._asked = time.monotonic() + (1.0 if self._wants is None else self._wants)
        # Seconds between two inserts: few large ones are what ClickHouse wants.
        if time.monotonic() >= self._stored + 1.0:
            self._storing.step()
            self._stored = time.monotonic()

    def idle(self) -> bool:
        """True where all input is handled and the bridge waits for nothing."""
        return not self._worker.step() and not self._acting.step() and not self._bridge.open_decisions

    def drain(self) -> None:
        """End the jobs and the GPU agent, and let what they left run through to the database."""
        self.cluster.close()
        self.gpus.close()
        while self._worker.step() or self._acting.step() or self._storing.step():
            pass

    def close(self) -> None:
        """Let go of everything, whether drained or not."""
        self.cluster.close()
        self.gpus.close()
        self.writer.close()
        self.client.close()

    def publish(self, record: Record) -> None:
        """Write a record to its topic."""
        self.broker.append(outgoing(record))

    def _accept(self, batch: Batch) -> None:
        for _, record in batch:
            assert isinstance(record, Accepted)
            self._bridge.accept(record)


class _Gpus:
    """The GPU agent on a thread of its own. `label` names the source of the samples."""

    def __init__(self, broker: MemoryBroker) -> None:
        self.label, source = _source()
        # The screen shows a new sample each second.
        self._agent = GpuAgent(source, broker.producer, 1.0)
        self._thread = threading.Thread(target=self._agent.run, name="gpu-agent", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Send what is left, and end the thread."""
        self._agent.stop()
        self._thread.join()


def _source() -> tuple[str, GpuSource]:
    try:
        return "NVML: the GPUs of this machine", NvmlSource(socket.gethostname().partition(".")[0])
    except GpuError:
        recording = RecordingSource(shipped_recording(), loop=True)
        what = "a made-up recording" if recording.made_up else "a recording"
        return f"{what}: NVML finds no GPU here", recording


class _Shipping:
    """Takes bytes from the scheduler's thread and publishes chunks. Safe for threads."""

    def __init__(self, publish: Callable[[Record], None]) -> None:
        self._publish = publish
        self.pieces = 0
        """Pieces of text that were published."""
        self._streams: dict[str, tuple[PieceSplitter, Chunker[LogChunk]]] = {}
        self._lock = threading.Lock()

    def add_output(self, output: StreamOutput) -> None:
        """Publish output of a job; empty data ends its stream."""
        name = f"local/{output.job}/{output.attempt}/{output.rank}/{output.stream}"
        with self._lock:
            if name not in self._streams:
                make = partial(
                    LogChunk,
                    producer=name,
                    job=output.job,
                    attempt=output.attempt,
                    node=output.node,
                    rank=output.rank,
                    stream=output.stream,
                )
                self._streams[name] = PieceSplitter(), Chunker(make)
            splitter, chunker = self._streams[name]
            pieces = splitter.feed(output.data, output.time) if output.data else splitter.finish()
            self._ship(chunker.add(pieces, time.monotonic()))
            if not output.data:
                self._ship(chunker.flush())
                del self._streams[name]

    def flush_due(self) -> None:
        """Publish the chunks that have waited long enough for more lines."""
        with self._lock:
            for _, chunker in self._streams.values():
                self._ship(chunker.due(time.monotonic()))

    def _ship(self, ready: list[Ready[LogChunk]]) -> None:
        for chunk in ready:
            self.pieces += chunk.pieces
            self._publish(chunk.record)
