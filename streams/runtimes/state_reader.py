"""Reads of a partition what a worker must know before it goes on: the states, what is committed, and input once more."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import CoordinatorLoadInProgressError, KafkaError

from schedmate_records import Position

from ..kafka import Connection
from ..kafka.aio import REFUSED, aiokafka_config
from ..resilience import Outage
from ..transport import Message


async def read_ends(connection: Connection, parts: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
    """Return the end of each of `parts` (topic, partition). A broker that is away is waited for."""
    wanted = [TopicPartition(*part) for part in parts]
    outage = Outage("Kafka", consequence="the ends of the states' partitions are read again")
    while True:
        try:
            async with _consumer(connection) as consumer:
                ends = await consumer.end_offsets(wanted)
        except REFUSED:
            raise
        except KafkaError as error:
            await asyncio.sleep(outage.failed(repr(error)))
        else:
            outage.succeeded()
            return {(part.topic, part.partition): end for part, end in ends.items()}


async def read_committed(
    connection: Connection, group: str, parts: Iterable[tuple[str, int]]
) -> dict[tuple[str, int], tuple[int, int]]:
    """Return the next offset of `group` in each of `parts` (topic, partition), and the end of each.

    Where nothing is committed the next offset is the first one that is held.

    A broker that is away is waited for.
    """
    wanted = [TopicPartition(*part) for part in parts]
    outage = Outage("Kafka", consequence="the committed offsets are read again")
    while True:
        try:
            committed = await _read_committed(connection, group, wanted)
        except REFUSED:
            raise
        except KafkaError as error:
            await asyncio.sleep(outage.failed(repr(error)))
        else:
            outage.succeeded()
            return committed


async def _read_committed(
    connection: Connection, group: str, wanted: list[TopicPartition]
) -> dict[tuple[str, int], tuple[int, int]]:
    admin = AIOKafkaAdminClient(**aiokafka_config(connection))
    await admin.start()
    try:
        found = await admin.list_consumer_group_offsets(group, partitions=wanted)
    finally:
        await closed(admin.close())
    if missing := [part for part in wanted if part not in found]:
        # aiokafka drops the answer's own error. A coordinator that has just started answers without any partition, which would be
        # taken for "nothing is committed" and send a worker back to the first message that is held.
        raise CoordinatorLoadInProgressError(
            f"the coordinator reports nothing of {missing[0]} and {len(missing) - 1} others"
        )
    async with _consumer(connection) as consumer:
        first, ends = await consumer.beginning_offsets(wanted), await consumer.end_offsets(wanted)
    offsets = {part: found[part].offset for part in wanted}
    return {(part.topic, part.partition): (first[part] if at < 0 else at, ends[part]) for part, at in offsets.items()}


async def read_messages(
    connection: Connection, topic: str, partition: int, begin: int = 0, end: int | None = None
) -> AsyncIterator[list[Message]]:
    """Yield the messages of one partition from offset `begin` to before `end` (None: to what it holds now), as they are fetched.

    A broker that is away is waited for.
    """
    part, at = TopicPartition(topic, partition), begin
    outage = Outage("Kafka", consequence=f"the rest of {topic}/{partition} is read again")
    while True:
        try:
            async with _consumer(connection) as consumer:
                consumer.assign([part])
                held = (await consumer.end_offsets([part]))[part]
                end = held if end is None else min(end, held)
                consumer.seek(part, max(at, (await consumer.beginning_offsets([part]))[part]))
                while (at := await consumer.position(part)) < end:
                    for records in (await consumer.getmany(part, timeout_ms=500, max_records=500)).values():
                        yield [_message(record) for record in records if record.offset < end]
                outage.succeeded()
                return
        except REFUSED:
            raise
        except KafkaError as error:
            await asyncio.sleep(outage.failed(repr(error)))


async def read_input(
    connection: Connection, partition: int, wanted: dict[str, tuple[int, int]]
) -> AsyncIterator[list[Message]]:
    """Yield the messages of one partition of several topics, one after another: `wanted` holds begin and end of each."""
    for topic, (begin, end) in wanted.items():
        async for messages in read_messages(connection, topic, partition, begin, end):
            yield messages


@asynccontextmanager
async def _consumer(connection: Connection) -> AsyncIterator[Any]:
    consumer = AIOKafkaConsumer(
        **aiokafka_config(connection),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=16 << 20,
    )
    await consumer.start()
    try:
        yield consumer
    finally:
        await closed(consumer.stop())


async def closed(closing: Awaitable[None]) -> None:
    """Wait until a client of aiokafka is closed.

    It cancels its own tasks and waits for them, and where one of them waits to try again that cancellation comes out here (0.14): a
    caller that took it for its own would end in the middle of its work.
    """
    try:
        await closing
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) and task.cancelling():
            raise


def _message(record: Any) -> Message:
    return Message(
        Position(record.topic, record.partition, record.offset),
        record.key,
        record.value or b"",
        record.timestamp / 1000,
    )
