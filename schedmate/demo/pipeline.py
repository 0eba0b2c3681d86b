"""All packages at work in one process: producers → processors → sink and bridge, on a broker in memory."""

import threading
import time
from pathlib import Path

from clickhouse_connect.driver.client import Client

from processors.settings import ProcessorSettings
from schedmate_records import Action, Mode, Record
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.bridge import Accepted
from scheduler_bridge.schedulers.local.actuator import LocalActuator
from scheduler_bridge.selectors import Selector
from sinks.clickhouse import STORED_TOPICS, ClickHouseWriter, migrate, open_client
from streams.memory import MemoryBroker
from streams.resilience import Outage
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.runtimes.pump import Batch, Pump
from streams.transport import outgoing

from ..assembly import job_processor, node_processor
from ..services.sink import Sinks, StoreWriter
from .cluster import Cluster
from .gpus import Gpus
from .shipping import Shipping

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
"""What the demo's operator allows."""
POLL_S = 0.002
"""Nothing waits for input: the loop comes back soon anyway."""


class Pipeline:
    """What runs as services in production, stepped in turn by one loop.

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
        self.shipping = Shipping(self.publish)
        self.gpus = Gpus(self.broker)
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
