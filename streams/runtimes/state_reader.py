"""Reads the states of one partition back from a compacted topic."""

from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from records import Position
from streams.kafka import Connection
from streams.transport import Message


async def read_states(connection: Connection, topic: str, partition: int) -> list[Message]:
    """Return what `topic` holds in `partition`, the newest message of each key at least."""
    config: dict[str, Any] = {}
    if connection.sasl_mechanism:
        config = {
            "sasl_mechanism": connection.sasl_mechanism,
            "sasl_plain_username": connection.sasl_username,
            "sasl_plain_password": connection.sasl_password,
        }
    consumer = AIOKafkaConsumer(
        bootstrap_servers=list(connection.brokers),
        security_protocol=connection.security_protocol,
        ssl_context=connection.ssl_context(),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=16 << 20,
        **config,
    )
    await consumer.start()
    try:
        part = TopicPartition(topic, partition)
        consumer.assign([part])
        await consumer.seek_to_beginning(part)
        end = (await consumer.end_offsets([part]))[part]
        found: list[Message] = []
        while await consumer.position(part) < end:
            for records in (await consumer.getmany(part, timeout_ms=500)).values():
                found += [
                    Message(
                        Position(topic, partition, record.offset),
                        record.key,
                        record.value or b"",
                        record.timestamp / 1000,
                    )
                    for record in records
                ]
        return found
    finally:
        await consumer.stop()
