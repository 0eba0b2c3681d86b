"""Consumer groups from outside: how far one has come, and moving it while none of its members runs."""

import kafka
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from schedmate_records import Position

from .admin import admin_client
from .connection import Connection
from .errors import refused


def members(connection: Connection, group: str) -> int:
    """Return how many members `group` has now."""
    with admin_client(connection, f"ask for the group {group}") as client:
        return len(client.describe_groups([group])[group]["members"])


def committed(connection: Connection, group: str, topic: str, partition: int) -> int | None:
    """Return the offset that `group` reads next in a partition; None where it has committed nothing there."""
    part = kafka.TopicPartition(topic, partition)
    with admin_client(connection, f"ask for the group {group}") as client:
        found = client.list_group_offsets({group: [part]})[group].get(part)
    return None if found is None or found.offset < 0 else int(found.offset)


def move(connection: Connection, group: str, to: Position) -> None:
    """Let `group` read on at `to`. Raises `TransportError` where a member runs, or this user may not."""
    part = kafka.TopicPartition(to.topic, to.partition)
    doing = f"move the group {group} in {to.topic}"
    with admin_client(connection, doing) as client:
        answer = client.alter_group_offsets(group, {part: OffsetAndMetadata(to.offset, "", -1)})[part]
    if answer is not kafka.errors.NoError:
        error: KafkaError = answer()
        raise refused(connection, error, doing) from error
