"""One engine as an agent of a Faust application: takes batches, writes what follows, acknowledges."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import faust
import msgspec
import structlog
from faust.types import TP, EventT

from processors.keyed import KeyedProcessor
from records import Position
from streams.accept import CUT, refuse
from streams.kafka import Connection
from streams.transport import Message, Outgoing, outgoing

from .engine import Engine, Restored, Results
from .state_reader import read_committed, read_ends, read_messages
from .trial import Trial
from .writer import TooLarge, Writer

log = structlog.get_logger(__name__)

BATCH = 500
"""Messages taken at a time: what each costs beside its lines (a commit, a write) is shared by so many."""
BATCH_BYTES = 4 << 20
"""Bytes of them that are handled at a time: whoever stops the worker waits for no more."""
WAIT_S = 0.05
"""A batch is not waited for longer than this: a small part of the second in which a verdict should be there."""
STUCK_S = 60.0
"""A backlog of which nothing was handled for so long stands: as long as one message may take on trial."""


class FaustAgent:
    """Feeds one engine.

    Args:
        app: The application; its id is the group.
        connection: The brokers.
        engine: What is fed.
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
        self._app, self._connection, self._engine, self._make = app, connection, engine, make
        self._writer = Writer(connection)
        self.failed = ""
        self._stale: set[int] = set()
        self._next: dict[TP, int] = {}
        self._handled_at = time.monotonic()
        self._untried: dict[int, Restored] = {}
        inputs = app.topic(*engine.processor.inputs, key_serializer="raw", value_serializer="raw")
        app.agent(inputs, name=engine.processor.state_topic)(self._think)

    def problems(self) -> Iterator[str]:
        """Yield what is wrong, a sentence each, for the health check."""
        if self.failed:
            yield self.failed
        if self._writer.outage.ongoing:
            yield "the broker does not take what is written: it is away, or refuses"
        if (waiting := self._count_behind()) and time.monotonic() > self._handled_at + STUCK_S:
            yield f"{waiting} messages wait, and none was handled for {time.monotonic() - self._handled_at:.0f} s"
        if self._engine.trimmed:
            yield f"{self._engine.trimmed} states grew too large and lost their largest part: see the log for the keys"

    def revoked(self, parts: set[TP]) -> None:
        """Note that `parts` went away: the states of those that come again are read anew, unless nobody else had them."""
        mine = {part for part in parts if part.topic in self._engine.processor.inputs}
        self._stale |= {part.partition for part in mine}
        for part in mine:
            self._next.pop(part, None)

    async def _think(self, stream: Any) -> None:
        try:
            async for events in stream.noack_take(BATCH, within=WAIT_S):
                for part in _in_parts(events):
                    await self._take(stream, part)
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and (task := asyncio.current_task()) and task.cancelling():
                raise  # it is told to end
            # Not a message's fault (those become dead letters) and not the broker's absence (that is waited for): end, and let whoever
            # started the worker start it anew; the work is repeated from the last commit.
            self.failed = repr(error)
            log.exception("the worker cannot go on", inputs=self._engine.processor.inputs)
            await self._app.crash(error)
            raise
        finally:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._writer.close(), 1.0)

    async def _take(self, stream: Any, fetched: "Sequence[EventT[bytes]]") -> None:
        # Events fetched before a rebalance come again after it, perhaps to another worker; taking them now could pass others over.
        events = [event for event in fetched if event.message.generation_id == self._app.consumer_generation_id]
        if not events:
            return
        await self._handle([_message(event) for event in events])
        for event in events:
            await stream.ack(event)
        for event in events:
            self._next[event.message.tp] = event.message.offset + 1
        self._handled_at = time.monotonic()
        self._count_behind()

    async def _handle(self, messages: Sequence[Message]) -> None:
        """Process a batch and write what follows."""
        await self._let_go()
        await self._restore({message.position.partition for message in messages} - self._engine.partitions)
        for partition in list(self._untried):
            await self._try(partition, [each for each in messages if each.position.partition == partition])
        await self._process(messages)

    async def _process(self, messages: Sequence[Message]) -> None:
        planned = self._writer.write(self._engine.plan(messages))
        results, _ = await asyncio.gather(asyncio.to_thread(self._engine.handle, messages), planned)
        await self._write(results)
        self._engine.acknowledged(results)

    async def _let_go(self) -> None:
        """Drop the states of partitions that went away, but for those that came again when nobody else had worked on them.

        Each rebalance takes all partitions away, most come back at once, and to read thousands of states takes seconds.
        """
        stale, self._stale = self._stale, set()
        kept = await self._untouched(stale & self._engine.partitions & self._assigned())
        self._engine.metrics.kept.inc(len(kept))
        for partition in stale - kept:
            self._engine.forget(partition)
            self._untried.pop(partition, None)

    async def _untouched(self, partitions: set[int]) -> set[int]:
        """Return those of `partitions` on which nobody else has worked since their states were read.

        Whoever works on a partition writes into its states first. One who did so just before we read them, and whom the next rebalance took
        it from, shows by what he committed.
        """
        if not partitions:
            return set()
        engine = self._engine
        states = {partition: (engine.processor.state_topic, partition) for partition in partitions}
        inputs = [(topic, partition) for topic in engine.processor.inputs for partition in partitions]
        committed = await read_committed(self._connection, str(self._app.conf.id), inputs)
        ends = await read_ends(self._connection, states.values())
        return {
            partition
            for partition, part in states.items()
            if self._writer.sole.wrote_all(part, ends[part])
            and all(committed[topic, partition][0] <= at for topic, at in engine.handled(partition).items())
        }

    def _assigned(self) -> set[int]:
        """Return the partitions of which all inputs are ours."""
        parts, inputs = self._app.consumer.assignment(), self._engine.processor.inputs
        return {part.partition for part in parts if all(TP(topic, part.partition) in parts for topic in inputs)}

    async def _restore(self, partitions: set[int]) -> None:
        """Make the states of `partitions` what they were when the worker before committed."""
        if not partitions:
            return
        engine, topics = self._engine, self._engine.processor.inputs
        wanted = [(topic, partition) for topic in topics for partition in sorted(partitions)]
        committed = await read_committed(self._connection, str(self._app.conf.id), wanted)
        for partition in sorted(partitions):
            async for stored in read_messages(self._connection, engine.processor.state_topic, partition):
                await asyncio.to_thread(engine.load, partition, stored)
            at, ends = ({topic: committed[topic, partition][which] for topic in topics} for which in (0, 1))
            restored = engine.restore(partition, at, ends)
            self._writer.sole.begin((engine.processor.state_topic, partition))
            await self._writer.write(restored.writes)
            async for messages in self._input(partition, restored):
                await asyncio.to_thread(engine.replay, messages)
            if restored.suspect:
                self._untried[partition] = restored
            await self._follow(partition, restored)
            log.info("state_restored", topic=engine.processor.state_topic, partition=partition, states=restored.states,
                     replayed=sum(end - begin for begin, end in restored.replay.values()))  # fmt: skip

    async def _follow(self, partition: int, restored: Restored) -> None:
        """Handle again what was not committed, in the order in which the worker before took it."""
        planned = [
            messages
            for topic, begin, end in restored.planned
            async for messages in read_messages(self._connection, topic, partition, begin, end)
        ]
        if partition in self._untried:
            await self._try(partition, [message for messages in planned for message in messages])
        for messages in planned:
            await self._process(messages)

    async def _input(self, partition: int, restored: Restored) -> Any:
        for topic, (begin, end) in restored.replay.items():
            async for messages in read_messages(self._connection, topic, partition, begin, end):
                yield messages

    async def _try(self, partition: int, messages: Sequence[Message]) -> None:
        """Set aside those of `messages` at which a process dies."""
        restored, handled = self._untried[partition], self._engine.handled(partition)
        suspects = [each for each in messages if each.position.offset < restored.suspect.get(each.position.topic, 0)]
        if not suspects and messages:  # the suspects come first
            del self._untried[partition]
        waiting = [each for each in suspects if each.position.offset >= handled.get(each.position.topic, 0)]
        if self._make is None or not waiting:
            return
        topic = self._engine.processor.state_topic
        stored = [each async for batch in read_messages(self._connection, topic, partition) for each in batch]
        replay = [each async for batch in self._input(partition, restored) for each in batch]
        log.warning(
            "trying_messages", partition=partition, messages=len(waiting), reason="workers before this one ended here"
        )
        while waiting:
            trial = Trial(self._make, partition, stored, restored.committed, replay)
            deadly = await asyncio.to_thread(trial.deadly, waiting)
            if deadly is None:
                break
            log.error("message_set_aside", position=deadly.position, bytes=len(deadly.value))
            await self._write(self._engine.set_aside(deadly))
            waiting.remove(deadly)

    def _count_behind(self) -> int:
        """Return how many messages wait, as far as they were seen by the newest fetch."""
        consumer = self._app.consumer
        behind = sum(max((consumer.highwater(part) or 0) - at, 0) for part, at in list(self._next.items()))
        self._engine.metrics.lag.set(behind)
        return behind

    async def _write(self, results: Results) -> None:
        """Write `results`, stage by stage. What is too large for its topic becomes a dead letter."""
        for stage in results.stages:
            try:
                await self._writer.write(stage)
            except TooLarge as refused:
                await self._bury(refused.messages)

    async def _bury(self, messages: Sequence[Outgoing]) -> None:
        self._engine.metrics.dead_letters.inc(len(messages))
        letters = []
        for each in messages:
            log.error("too_large", topic=each.topic, bytes=len(each.value or b""))
            place = Position(each.topic, each.partition or 0, 0)
            letter = refuse(Message(place, each.key, each.value or b"", 0.0), "larger than its topic allows", "write")
            letters.append(
                msgspec.structs.replace(
                    letter, id=f"{letter.id}/{letter.sha256}", value=letter.value[: CUT // 8], truncated=True
                )
            )
        await self._writer.write([outgoing(letter) for letter in letters])


def _in_parts(events: "Sequence[EventT[bytes]]") -> "Iterator[list[EventT[bytes]]]":
    """Yield `events` in parts of at most `BATCH_BYTES`, or of one event."""
    part: list[EventT[bytes]] = []
    size = 0
    for event in events:
        more = len(event.message.value or b"")
        if part and size + more > BATCH_BYTES:
            yield part
            part, size = [], 0
        part.append(event)
        size += more
    if part:
        yield part


def _message(event: "EventT[bytes]") -> Message:
    raw = event.message
    return Message(Position(raw.topic, raw.partition, raw.offset), raw.key, raw.value or b"", raw.timestamp)
