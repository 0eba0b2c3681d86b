"""Takeover of partitions by a worker, and the states that it keeps through a rebalance."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import structlog

from ..kafka import Connection
from ..transport import Message
from .engine import Engine
from .fence import Overtaken, epochs_of_others
from .results import Restored
from .state_reader import read_committed, read_ends, read_input, read_messages
from .trials import Trials
from .writer import Writer

log = structlog.get_logger(__name__)


class Takeover:
    """Takes partitions over from the worker before.

    Args:
        group: The consumer group that shares the partitions.
        engine: Holds the states.
        writer: Writes, and knows which messages came between its own.
        trials: Is notified of messages at which workers ended.
        process: Handles messages and writes what follows.
    """

    def __init__(
        self,
        connection: Connection,
        group: str,
        engine: Engine[Any],
        *,
        writer: Writer,
        trials: Trials,
        process: Callable[[Sequence[Message]], Awaitable[None]],
    ) -> None:
        self._connection, self._group, self._engine, self._writer = connection, group, engine, writer
        self._trials, self._process = trials, process

    async def restore(self, partitions: set[int]) -> None:
        """Make the states of `partitions` what they were when the worker before committed. Raises `Overtaken`."""
        while partitions:
            partitions = await self._restore(partitions)

    async def is_overtaken(self, partition: int) -> bool:
        """True once a newer worker has taken a partition over."""
        return any(epoch > self._engine.epoch(partition) for epoch in await self._other_epochs(partition))

    async def let_go(self, stale: set[int], assigned: set[int]) -> None:
        """Drop the states of the partitions that went away, but for those that came again when no other worker had worked on them.

        Each rebalance takes all partitions away, most come back at once, and to read thousands of states takes seconds.

        Args:
            stale: The partitions that went away.
            assigned: Those that this worker has now.
        """
        kept = await self._untouched(stale & self._engine.partitions & assigned)
        self._engine.metrics.kept.inc(len(kept))
        self.drop(stale - kept)

    def drop(self, partitions: Iterable[int]) -> None:
        """Drop the states of `partitions`."""
        for partition in list(partitions):
            self._engine.forget(partition)
            self._trials.forget(partition)

    async def _untouched(self, partitions: set[int]) -> set[int]:
        """Return those of `partitions` on which no other worker has worked since their states were read.

        Each worker writes into the states of a partition first. One that did so just before we read them, and lost the
        partition in the next rebalance, shows by what it committed.
        """
        if not partitions:
            return set()
        engine = self._engine
        states = {partition: (engine.processor.state_topic, partition) for partition in partitions}
        inputs = [(topic, partition) for topic in engine.processor.inputs for partition in partitions]
        committed = await read_committed(self._connection, self._group, inputs)
        ends = await read_ends(self._connection, states.values())
        return {
            partition
            for partition, part in states.items()
            if self._writer.sole.wrote_all(part, ends[part])
            and all(committed[topic, partition][0] <= at for topic, at in engine.handled(partition).items())
        }

    async def _restore(self, partitions: set[int]) -> set[int]:
        """Return those of which another worker has taken messages meanwhile: they must be read again."""
        topics, again = self._engine.processor.inputs, set[int]()
        wanted = [(topic, partition) for topic in topics for partition in sorted(partitions)]
        states = {partition: (self._engine.processor.state_topic, partition) for partition in sorted(partitions)}
        committed = await read_committed(self._connection, self._group, wanted)
        held = await read_ends(self._connection, states.values())
        for partition, part in states.items():
            at, ends = ({topic: committed[topic, partition][which] for topic in topics} for which in (0, 1))
            try:
                if not await self._take_over(part, held[part], at, ends):
                    again.add(partition)
            except Overtaken:
                self.drop({partition})
                raise
        return again

    async def _take_over(self, part: tuple[str, int], held: int, at: dict[str, int], ends: dict[str, int]) -> bool:
        """Read the states that `part` (topic, partition) holds before `held`, and do what is not committed; False: read again."""
        engine, (topic, partition) = self._engine, part
        async for stored in read_messages(self._connection, topic, partition, end=held):
            await asyncio.to_thread(engine.load, partition, stored)
        restored = engine.restore(partition, at, ends)
        self._writer.sole.begin(part, held)
        await self._writer.write(restored.writes)
        if await self._other_epochs(partition):
            self.drop({partition})
            return False
        async for messages in read_input(self._connection, partition, restored.replay):
            await asyncio.to_thread(engine.replay, messages)
        self._trials.begin(partition, restored)
        await self._follow(partition, restored)
        log.info("state_restored", topic=topic, partition=partition, states=restored.states,
                 replayed=sum(end - begin for begin, end in restored.replay.values()))  # fmt: skip
        return True

    async def _follow(self, partition: int, restored: Restored) -> None:
        """Handle again what was not committed, in the order in which the worker before took it."""
        planned = [
            messages
            for topic, begin, end in restored.planned
            async for messages in read_messages(self._connection, topic, partition, begin, end)
        ]
        await self._trials.set_aside(message for messages in planned for message in messages)
        for messages in planned:
            await self._process(messages)

    async def _other_epochs(self, partition: int) -> set[int]:
        part = (self._engine.processor.state_topic, partition)
        return await epochs_of_others(self._connection, self._writer.sole, part, self._engine.epoch(partition))
