"""Has a worker's first messages tried in another process where workers before it ended at them (`trial.py`)."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import structlog

from processors.keyed import KeyedProcessor

from ..kafka import Connection
from ..transport import Message
from .engine import Engine
from .output import Output
from .results import Restored
from .state_reader import read_input, read_messages
from .trial import Trial

log = structlog.get_logger(__name__)


class Trials:
    """The partitions of which messages are still to be tried.

    Args:
        engine: What takes the messages afterwards.
        output: Takes the dead letters of those that are set aside.
        make: Makes the engine's processor anew, in another process; None: no message is tried.
    """

    def __init__(
        self,
        connection: Connection,
        engine: Engine[Any],
        output: Output,
        make: Callable[[], KeyedProcessor[Any]] | None,
    ) -> None:
        self._connection, self._engine, self._output, self._make = connection, engine, output, make
        self._open: dict[int, Restored] = {}

    def begin(self, partition: int, restored: Restored) -> None:
        """Have the suspects of a partition tried before they are taken, where there are any."""
        if restored.suspect:
            self._open[partition] = restored

    def forget(self, partition: int) -> None:
        """Note that a partition went away."""
        self._open.pop(partition, None)

    async def set_aside(self, messages: Iterable[Message]) -> None:
        """Set aside those of `messages`, which are taken next, at which a process dies."""
        batch = list(messages)
        for partition in list(self._open):
            await self._try(partition, [each for each in batch if each.position.partition == partition])

    async def _try(self, partition: int, messages: Sequence[Message]) -> None:
        """Set aside those of `messages` at which a process dies."""
        restored, handled = self._open[partition], self._engine.handled(partition)
        suspects = [each for each in messages if each.position.offset < restored.suspect.get(each.position.topic, 0)]
        if not suspects and messages:  # the suspects come first
            del self._open[partition]
        waiting = [each for each in suspects if each.position.offset >= handled.get(each.position.topic, 0)]
        if self._make is None or not waiting:
            return
        topic = self._engine.processor.state_topic
        stored = [each async for batch in read_messages(self._connection, topic, partition) for each in batch]
        replay = [each async for batch in read_input(self._connection, partition, restored.replay) for each in batch]
        log.warning(
            "trying_messages", partition=partition, messages=len(waiting), reason="workers before this one ended here"
        )
        while waiting:
            trial = Trial(self._make, partition, stored, restored.committed, replay)
            deadly = await asyncio.to_thread(trial.deadly, waiting)
            if deadly is None:
                break
            log.error("message_set_aside", position=deadly.position, bytes=len(deadly.value))
            await self._output.write(self._engine.set_aside(deadly))
            waiting.remove(deadly)
