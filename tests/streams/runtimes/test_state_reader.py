"""What a worker reads before it goes on: offsets are asked for until the group's coordinator knows them."""

import asyncio
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from streams.kafka import KafkaProducer
from streams.kafka.aio import aiokafka_config
from streams.runtimes.state_reader import closed, read_committed
from streams.transport import Outgoing
from tests.servers.kafka import Kafka

GROUP = "offsets"


async def _commit(kafka: Kafka, part: TopicPartition, offset: int) -> None:
    consumer = AIOKafkaConsumer(**aiokafka_config(kafka.connection), group_id=GROUP, enable_auto_commit=False)
    await consumer.start()
    try:
        consumer.assign([part])
        await consumer.commit({part: offset})
    finally:
        await consumer.stop()


@pytest.mark.kafka
def test_a_coordinator_that_has_just_begun_is_asked_again(own_kafka: Kafka, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that took its silence for "nothing committed" would read its whole input once more."""
    part, connection = TopicPartition("job-logs", 0), own_kafka.connection
    producer = KafkaProducer(connection)
    for number in range(3):
        producer.send(Outgoing(part.topic, b"j", b"%d" % number, part.partition)).result(60)
    producer.close()
    asyncio.run(_commit(own_kafka, part, 2))
    ask, asked = AIOKafkaAdminClient.list_consumer_group_offsets, 0

    async def loading(admin: Any, *arguments: Any, **named: Any) -> Any:
        nonlocal asked
        asked += 1
        return await ask(admin, *arguments, **named) if asked > 1 else {}

    monkeypatch.setattr(AIOKafkaAdminClient, "list_consumer_group_offsets", loading)
    assert asyncio.run(read_committed(connection, GROUP, [part])) == {part: (2, 3)}
    assert asked == 2


async def _stop_as_aiokafka_does() -> None:
    """Cancel a task of its own that waits to try again, and wait for it."""
    waiting = asyncio.create_task(asyncio.sleep(60))
    await asyncio.sleep(0)
    waiting.cancel()
    await waiting


def test_the_end_of_a_client_does_not_end_who_waits_for_it() -> None:
    async def reads() -> str:
        await closed(_stop_as_aiokafka_does())
        return "goes on"

    assert asyncio.run(reads()) == "goes on"


def test_who_is_told_to_end_ends() -> None:
    async def told_to_end() -> bool:
        task = asyncio.create_task(closed(asyncio.sleep(60)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(told_to_end())
