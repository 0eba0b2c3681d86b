"""Writes what an engine made, and returns once the broker has all of it."""

import asyncio
from collections.abc import Sequence
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from ..kafka import Connection
from ..kafka.aio import REFUSED, TOO_LARGE, aiokafka_config
from ..partition import partition_of
from ..resilience import Outage
from ..transport import Outgoing
from .sole_writer import SoleWriter


class TooLarge(Exception):
    """Messages that no topic takes, however often they are sent.

    Attributes:
        messages: Which.
    """

    def __init__(self, messages: Sequence[Outgoing]) -> None:
        super().__init__(f"{len(messages)} messages are larger than their topics allow")
        self.messages = messages


class Writer:
    """A producer that packs messages into batches by itself: a future for each message would cost more than its writing.

    Attributes:
        sole: Of the partitions that it follows: whether anybody else has written there.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.sole = SoleWriter()
        self._producer: Any = None
        self.outage = Outage("Kafka", consequence="nothing is committed; writing is tried again until it answers")

    async def write(self, messages: Sequence[Outgoing]) -> None:
        """Write `messages`, in order within each partition, and wait until all are acknowledged, however long the broker is away.

        Raises:
            TooLarge: Some are larger than their topic allows; all others are written.
            KafkaError: The broker refuses for good, for want of a right or a topic.
        """
        left, refused = list(messages), list[Outgoing]()
        while left:
            try:
                left, error = await self._try(left, refused)
            except KafkaError as failure:
                error = failure
            if isinstance(error, REFUSED):
                raise error
            if error is None:
                continue
            if not error.retriable:  # of the producer's own: begin with a new one
                await self.close()
            await asyncio.sleep(self.outage.failed(repr(error)))
        self.outage.succeeded()
        if refused:
            raise TooLarge(refused)

    async def close(self) -> None:
        """Let go of the connection; what is not acknowledged is given up."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()

    async def _try(
        self, messages: Sequence[Outgoing], refused: list[Outgoing]
    ) -> tuple[list[Outgoing], KafkaError | None]:
        """Send all; return what must be sent again, and why. What is too large goes to `refused`."""
        producer = await self._open()
        sent = []
        for (topic, partition), group in (await self._by_partition(producer, messages)).items():
            for batch, held in self._batches(producer, group):
                sent.append(((topic, partition), held, await producer.send_batch(batch, topic, partition=partition)))
        answers = await asyncio.gather(*(future for *_, future in sent), return_exceptions=True)
        left: list[Outgoing] = []
        first: KafkaError | None = None
        for (part, held, _), answer in zip(sent, answers, strict=True):
            if isinstance(answer, BaseException):
                self.sole.forget(part)
            else:
                self.sole.acknowledged(part, answer.offset, len(held))
            if isinstance(answer, TOO_LARGE):
                if len(held) == 1:
                    refused += held
                else:  # one of them is
                    left += await self._one_by_one(producer, held, refused)
            elif isinstance(answer, KafkaError):
                left, first = [*left, *held], first or answer
            elif isinstance(answer, BaseException):
                raise answer
        return left, first

    async def _one_by_one(self, producer: Any, messages: Sequence[Outgoing], refused: list[Outgoing]) -> list[Outgoing]:
        left = []
        for message in messages:
            partition = await self._partition(producer, message)
            try:
                await producer.send_and_wait(message.topic, message.value, message.key, partition)
            except TOO_LARGE:
                refused.append(message)
            except KafkaError as error:
                if isinstance(error, REFUSED):
                    raise
                left.append(message)
        return left

    @staticmethod
    def _batches(producer: Any, messages: Sequence[Outgoing]) -> list[tuple[Any, list[Outgoing]]]:
        made: list[tuple[Any, list[Outgoing]]] = []
        for message in messages:
            if not made or made[-1][0].append(key=message.key, value=message.value, timestamp=None) is None:
                made.append((producer.create_batch(), []))
                made[-1][0].append(key=message.key, value=message.value, timestamp=None)
            made[-1][1].append(message)
        return made

    async def _by_partition(self, producer: Any, messages: Sequence[Outgoing]) -> dict[tuple[str, int], list[Outgoing]]:
        groups: dict[tuple[str, int], list[Outgoing]] = {}
        for message in messages:
            groups.setdefault((message.topic, await self._partition(producer, message)), []).append(message)
        return groups

    @staticmethod
    async def _partition(producer: Any, message: Outgoing) -> int:
        if message.partition is not None:
            return message.partition
        return partition_of(message.key, len(await producer.partitions_for(message.topic)))

    async def _open(self) -> Any:
        if self._producer is None:
            # The largest message that any topic takes (`streams/topics.py`).
            # Kafka's own limit of a batch, unless a topic allows more.
            producer = AIOKafkaProducer(
                **aiokafka_config(self._connection),
                acks="all",
                enable_idempotence=True,
                compression_type="lz4",
                linger_ms=0,
                max_batch_size=1 << 20,
                max_request_size=16 << 20,
            )
            await producer.start()
            self._producer = producer
        return self._producer
