"""One engine as an agent of a Faust application: takes batches, writes what follows, acknowledges."""

import asyncio
from collections.abc import Sequence
from typing import Any

import faust
import structlog
from aiokafka.errors import KafkaError
from faust.types import TP, EventT

from processors.models.inquiry import Inquiry
from records import Position
from streams.kafka import Connection
from streams.transport import Message, Outgoing

from .asking import Asking
from .engine import Engine
from .state_reader import read_states

log = structlog.get_logger(__name__)

BATCH = 50
"""Messages handled between two commits of state: one state record per key and batch."""

WAIT_S = 0.05
"""A batch is not waited for longer than this."""


class FaustAgent:
    """Feeds one engine.

    Attributes:
        failed: Why it cannot go on; empty while all is well.
    """

    def __init__(
        self, app: faust.App, connection: Connection, engine: Engine[Any], asking: Asking | None = None
    ) -> None:
        self._app, self._connection, self._engine, self._asking = app, connection, engine, asking
        self.failed = ""
        self._stale: set[int] = set()
        self._behind: dict[TP, int] = {}
        self._topics: dict[str, Any] = {}
        inputs = app.topic(*engine.processor.inputs, key_serializer="raw", value_serializer="raw")
        app.agent(inputs, name=engine.processor.state_topic)(self._think)

    def revoked(self, parts: set[TP]) -> None:
        """Note that `parts` went away: the states of those that come again are read anew."""
        mine = {part for part in parts if part.topic in self._engine.processor.inputs}
        self._stale |= {part.partition for part in mine}
        for part in mine:
            self._behind.pop(part, None)

    async def _think(self, stream: Any) -> None:
        async for events in stream.noack_take(BATCH, within=WAIT_S):
            # Events fetched before a rebalance come again after it, perhaps to another worker; taking them now could pass others over.
            current = [event for event in events if event.message.generation_id == self._app.consumer_generation_id]
            if not current:
                continue
            try:
                questions = await self._handle(current)
            except Exception as error:
                # Not a message's fault (those become dead letters) and not the broker's absence (that is waited for): end, and let whoever
                # started the worker start it anew; the work is repeated from the last commit.
                self.failed = repr(error)
                log.exception("the worker cannot go on", inputs=self._engine.processor.inputs)
                await self._app.crash(error)
                raise
            for event in current:
                await stream.ack(event)
            if self._asking is not None:
                self._asking.offer(questions)
            self._count_behind(current)

    async def _handle(self, events: "Sequence[EventT[bytes]]") -> list[Inquiry]:
        """Process a batch and write what follows; return the questions that it raised."""
        messages = [_message(event) for event in events]
        stale, self._stale = self._stale, set()
        for partition in stale:
            self._engine.forget(partition)
        for partition in {message.position.partition for message in messages} - self._engine.partitions:
            topic = self._engine.processor.state_topic
            restored = self._engine.restore(partition, await read_states(self._connection, topic, partition))
            log.info("state restored", topic=topic, partition=partition, states=restored)
        results = await asyncio.to_thread(self._engine.handle, messages)
        await self._write(results.records)
        await self._write(results.states)
        return results.questions

    def _count_behind(self, handled: "Sequence[EventT[bytes]]") -> None:
        for event in handled:
            part = event.message.tp
            self._behind[part] = max(self._app.consumer.highwater(part) - event.message.offset - 1, 0)
        self._engine.counters.behind = sum(self._behind.values())

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
            self._topics[name] = self._app.topic(name, key_serializer="raw", value_serializer="raw")
        return self._topics[name]


def _message(event: "EventT[bytes]") -> Message:
    raw = event.message
    return Message(Position(raw.topic, raw.partition, raw.offset), raw.key, raw.value or b"", raw.timestamp)
