"""Writes what follows from a batch, in stages; what is too large for its topic becomes a dead letter."""

from collections.abc import Sequence

import msgspec
import structlog

from schedmate_records import Position

from ..accept import CUT, refuse
from ..transport import Message, Outgoing, outgoing
from .metrics import EngineMetrics
from .results import Results
from .writer import TooLarge, Writer

log = structlog.get_logger(__name__)


class Output:
    """Receiver of an engine's results."""

    def __init__(self, writer: Writer, metrics: EngineMetrics) -> None:
        self._writer, self._metrics = writer, metrics

    async def write(self, results: Results) -> None:
        """Write `results`, stage by stage. What is too large for its topic becomes a dead letter."""
        for stage in results.stages:
            try:
                await self._writer.write(stage)
            except TooLarge as refused:
                await self._bury(refused.messages)

    async def _bury(self, messages: Sequence[Outgoing]) -> None:
        self._metrics.dead_letters.inc(len(messages))
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
