"""The Faust runtime: the engine as an agent on Kafka.

Faust brings the group membership, the fetching and the commits. Its tables and its `exactly_once` are not used: they are not exact under
`kill -9`. State goes to a compacted topic of our own, in the order that docs/architecture.md explains.
"""

import asyncio
import logging
import ssl
from collections.abc import Sequence
from typing import Any

import faust
import structlog
from aiokafka.errors import KafkaError
from faust.types import TP, EventT

from records import Position
from streams.kafka import Connection
from streams.transport import Message, Outgoing

from .engine import INPUTS, Engine
from .state_reader import read_states

log = structlog.get_logger(__name__)

BATCH = 50
"""Messages handled between two commits of state: one state record per job and batch."""

WAIT_S = 0.05
"""A batch is not waited for longer than this."""


class FaustWorker:
    """One worker process. Several of them with one `group` share the partitions.

    Attributes:
        engine: What handles the messages.
        failed: Why it cannot go on; empty while all is well.
    """

    def __init__(
        self,
        connection: Connection,
        engine: Engine | None = None,
        group: str = "schedmate-worker",
        session_timeout_s: float = 10.0,
    ) -> None:
        self.engine = engine or Engine()
        self._connection = connection
        self._stale: set[int] = set()
        self._behind: dict[TP, int] = {}
        self.failed = ""
        self.app = faust.App(
            group,
            broker=[f"kafka://{broker}" for broker in connection.brokers],
            broker_credentials=_credentials(connection),
            broker_session_timeout=session_timeout_s,
            broker_heartbeat_interval=session_timeout_s / 4,
            broker_commit_interval=0.5,
            broker_max_poll_records=500,
            consumer_auto_offset_reset="earliest",
            # A broker that has just come back may let the group form before it knows its topics: look again soon, and rebalance.
            consumer_metadata_max_age_ms=5000,
            consumer_max_fetch_size=16 << 20,
            producer_compression_type="lz4",
            producer_linger=0.002,
            producer_max_request_size=16 << 20,
            producer_acks=-1,
            topic_allow_declare=False,
            topic_disable_leader=True,
            web_enabled=False,
            autodiscover=False,
            key_serializer="raw",
            value_serializer="raw",
        )
        self._topics: dict[str, Any] = {}
        self.app.agent(self.app.topic(*INPUTS, key_serializer="raw", value_serializer="raw"), name="think")(self._think)
        self.app.on_partitions_revoked.connect(self._revoked)

    def run(self) -> None:
        """Run until SIGINT or SIGTERM; ends the process."""
        logging.getLogger("faust").setLevel(logging.WARNING)
        worker = faust.Worker(self.app, override_logging=False, quiet=True)
        worker.execute_from_commandline()

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        return [self.failed] if self.failed else []

    async def _revoked(self, *arguments: Any, **_: Any) -> None:
        revoked: set[TP] = arguments[-1]
        self._stale |= {part.partition for part in revoked}
        for part in revoked:
            self._behind.pop(part, None)

    async def _think(self, stream: Any) -> None:
        async for events in stream.noack_take(BATCH, within=WAIT_S):
            # Events fetched before a rebalance come again after it, perhaps to another worker; taking them now could pass others over.
            current = [event for event in events if event.message.generation_id == self.app.consumer_generation_id]
            if not current:
                continue
            try:
                await self._handle(current)
            except Exception as error:
                # Not a message's fault (those become dead letters) and not the broker's absence (that is waited for): end, and let whoever
                # started the worker start it anew; the work is repeated from the last commit.
                self.failed = repr(error)
                log.exception("the worker cannot go on")
                await self.app.crash(error)
                raise
            for event in current:
                await stream.ack(event)
            self._count_behind(current)

    async def _handle(self, events: "Sequence[EventT[bytes]]") -> None:
        messages = [_message(event) for event in events]
        stale, self._stale = self._stale, set()
        for partition in stale:
            self.engine.forget(partition)
        for partition in {message.position.partition for message in messages} - self.engine.partitions:
            restored = self.engine.restore(partition, await read_states(self._connection, partition))
            log.info("state restored", partition=partition, jobs=restored)
        results = await asyncio.to_thread(self.engine.handle, messages)
        await self._write(results.records)
        await self._write(results.states)

    def _count_behind(self, handled: "Sequence[EventT[bytes]]") -> None:
        for event in handled:
            part = event.message.tp
            self._behind[part] = max(self.app.consumer.highwater(part) - event.message.offset - 1, 0)
        self.engine.counters.behind = sum(self._behind.values())

    async def _write(self, batch: Sequence[Outgoing]) -> None:
        """Write `batch` and wait until all of it is acknowledged, however long the broker is away."""
        delay = 0.2
        left = list(batch)
        while left:
            sent = [
                await self._topic(each.topic).send(key=each.key, value=each.value, partition=each.partition)
                for each in left
            ]
            answers = await asyncio.gather(*sent, return_exceptions=True)
            failed = [
                (each, answer) for each, answer in zip(left, answers, strict=True) if isinstance(answer, BaseException)
            ]
            for _, answer in failed:
                if not isinstance(answer, KafkaError):
                    raise answer
            left = [each for each, _ in failed]
            if left:
                log.warning("not acknowledged; trying again", messages=len(left), reason=repr(failed[0][1]), in_s=delay)
                await asyncio.sleep(delay)
                delay = min(delay * 2, 10)

    def _topic(self, name: str) -> Any:
        if name not in self._topics:
            self._topics[name] = self.app.topic(name, key_serializer="raw", value_serializer="raw")
        return self._topics[name]


def _message(event: "EventT[bytes]") -> Message:
    raw = event.message
    return Message(Position(raw.topic, raw.partition, raw.offset), raw.key, raw.value or b"", raw.timestamp)


def _credentials(connection: Connection) -> Any:
    context: ssl.SSLContext | None = connection.ssl_context()
    if connection.sasl_mechanism:
        return faust.SASLCredentials(
            mechanism=connection.sasl_mechanism,
            username=connection.sasl_username,
            password=connection.sasl_password,
            ssl_context=context,
        )
    return faust.SSLCredentials(context) if context else None
