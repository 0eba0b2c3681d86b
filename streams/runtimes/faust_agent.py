"""One engine as an agent of a Faust application: takes batches, writes what follows, acknowledges."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import faust
import structlog
from faust.types import TP, EventT

from processors.keyed import KeyedProcessor
from schedmate_records import Position

from ..kafka import Connection
from ..transport import Message
from .engine import Engine
from .fence import Overtaken
from .order import topic_by_topic
from .output import Output
from .takeover import Takeover
from .trials import Trials
from .writer import Writer

log = structlog.get_logger(__name__)

WAIT_S = 0.05
"""A batch is not waited for longer than this: a small part of the second in which a verdict should be there."""


class FaustAgent:
    """Feeds one engine.

    Args:
        app: The application; its id is the group.
        make: Makes the engine's processor anew, in another process; None: no message is tried.

    Attributes:
        failed: Why it cannot go on; empty while all is well.
    """

    def __init__(
        self,
        app: faust.App,
        connection: Connection,
        engine: Engine[Any],
        make: Callable[[], KeyedProcessor[Any]] | None = None,
    ) -> None:
        self._app, self._engine = app, engine
        self._writer = Writer(connection)
        self._output = Output(self._writer, engine.metrics)
        self._trials = Trials(connection, engine, self._output, make)
        self._takeover = Takeover(
            connection, str(app.conf.id), engine, writer=self._writer, trials=self._trials, process=self._process
        )
        self.failed = ""
        self._stale: set[int] = set()
        self._next: dict[TP, int] = {}
        self._handled_at = time.monotonic()
        self._left = -1  # the generation of the group in which this worker was overtaken
        inputs = app.topic(*engine.processor.inputs, key_serializer="raw", value_serializer="raw")
        app.agent(inputs, name=engine.processor.state_topic)(self._think)

    def problems(self) -> Iterator[str]:
        """Yield what is wrong, a sentence each, for the health check."""
        if self.failed:
            yield self.failed
        if self._writer.outage.ongoing:
            yield "the broker does not accept writes: it is away, or refuses"
        # Stuck after 60 s without progress: the time limit of one message on trial.
        if (waiting := self._count_behind()) and time.monotonic() > self._handled_at + 60.0:
            yield f"{waiting} messages wait, and none was handled for {time.monotonic() - self._handled_at:.0f} s"
        if self._engine.trimmed:
            yield f"{self._engine.trimmed} states grew too large and lost their largest part: see the log for the keys"

    def revoked(self, parts: set[TP]) -> None:
        """Note that `parts` went away: the states of those that come again are read anew, unless no other worker had them."""
        mine = {part for part in parts if part.topic in self._engine.processor.inputs}
        self._stale |= {part.partition for part in mine}
        for part in mine:
            self._next.pop(part, None)

    async def _think(self, stream: Any) -> None:
        try:
            # 500 messages share the cost of a commit and a write.
            async for events in stream.noack_take(500, within=WAIT_S):
                for part in _in_parts(events):
                    await self._consume(stream, part)
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and (task := asyncio.current_task()) and task.cancelling():
                raise  # it is cancelled on purpose
                # Not a message's fault (those become dead letters) and not the broker's absence (that is waited for): end, and let whatever
            # started the worker start it anew; the work is repeated from the last commit.
            self.failed = repr(error)
            log.exception("worker_failed", inputs=self._engine.processor.inputs)
            await self._app.crash(error)
            raise
        finally:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._writer.close(), 1.0)

    async def _consume(self, stream: Any, fetched: "Sequence[EventT[bytes]]") -> None:
        # Events fetched before a rebalance come again after it, perhaps to another worker; taking them now could pass others over.
        generation = self._app.consumer_generation_id
        events = [event for event in fetched if event.message.generation_id == generation != self._left]
        taken = {id(event) for event in events}
        self._pass_over(event for event in fetched if id(event) not in taken)
        if not events:
            return
        while not await self._complete([_message(event) for event in events]):
            if not await self._outlasts(generation):
                self._left = generation
                self._pass_over(events)
                return
        for event in events:
            await stream.ack(event)
        for event in events:
            self._next[event.message.tp] = event.message.offset + 1
        self._handled_at = time.monotonic()
        self._count_behind()

    def _pass_over(self, events: "Iterable[EventT[bytes]]") -> None:
        """Leave events that come again: while anything held them, Faust would keep the group from forming anew."""
        for event in events:
            self._app.consumer.unacked.discard(event.message)

    async def _complete(self, messages: Sequence[Message]) -> bool:
        """Process a batch and write what follows. False where another worker has taken over, and nothing was written."""
        try:
            await self._handle(messages)
        except Overtaken:
            return False
        return True

    async def _outlasts(self, generation: int) -> bool:
        """Return whether this worker is still a member a session later: then the one that overtook it was not, and the batch is repeated.

        One that was stopped for longer than its session learns within that time that it must join anew.
        """
        deadline = time.monotonic() + self._app.conf.broker_session_timeout
        while self._app.consumer_generation_id == generation and not self._app.rebalancing:
            if time.monotonic() > deadline:
                return True
            await asyncio.sleep(WAIT_S)
        return False

    async def _handle(self, messages: Sequence[Message]) -> None:
        """Process a batch, topic by topic, and write what follows."""
        messages = topic_by_topic(messages, self._engine.processor.inputs)
        stale, self._stale = self._stale, set()
        await self._takeover.let_go(stale, self._assigned())
        await self._takeover.restore({message.position.partition for message in messages} - self._engine.partitions)
        await self._trials.set_aside(messages)
        await self._process(messages)

    async def _process(self, messages: Sequence[Message]) -> None:
        """Handle `messages` and write what follows. Raises `Overtaken` where nothing may be written."""
        planned = self._writer.write(self._engine.plan(messages))
        results, _ = await asyncio.gather(asyncio.to_thread(self._engine.handle, messages), planned)
        for partition in {message.position.partition for message in messages}:
            if await self._takeover.is_overtaken(partition):
                self._takeover.drop(self._engine.partitions)  # what was made and not written is in the states of all
                log.warning("overtaken", inputs=self._engine.processor.inputs, partition=partition)
                raise Overtaken
        await self._output.write(results)
        self._engine.acknowledged(results)

    def _assigned(self) -> set[int]:
        """Return the partitions of which all inputs are ours."""
        parts, inputs = self._app.consumer.assignment(), self._engine.processor.inputs
        return {part.partition for part in parts if all(TP(topic, part.partition) in parts for topic in inputs)}

    def _count_behind(self) -> int:
        """Return how many messages wait, as far as they were seen by the newest fetch."""
        consumer = self._app.consumer
        behind = sum(max((consumer.highwater(part) or 0) - at, 0) for part, at in list(self._next.items()))
        self._engine.metrics.lag.set(behind)
        return behind


def _in_parts(events: "Sequence[EventT[bytes]]") -> "Iterator[list[EventT[bytes]]]":
    """Yield `events` in parts of at most `BATCH_BYTES`, or of one event."""
    part: list[EventT[bytes]] = []
    size = 0
    for event in events:
        more = len(event.message.value or b"")
        # At most 4 MB are handled at a time: stopping the worker waits for no more.
        if part and size + more > (4 << 20):
            yield part
            part, size = [], 0
        part.append(event)
        size += more
    if part:
        yield part


def _message(event: "EventT[bytes]") -> Message:
    raw = event.message
    return Message(Position(raw.topic, raw.partition, raw.offset), raw.key, raw.value or b"", raw.timestamp)
