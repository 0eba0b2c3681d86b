"""Topics on a broker: create, list, check."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import kafka
from kafka.errors import KafkaError

from streams.topics import LAYOUTS
from streams.transport import TransportError

from .connection import Connection


@contextmanager
def _admin(connection: Connection) -> Iterator[Any]:
    where = ",".join(connection.brokers)
    try:
        client = kafka.KafkaAdminClient(**connection.config())
    except KafkaError as error:
        raise TransportError(
            f"expected a Kafka broker at {where}, got {error!r}: is it running and reachable?"
        ) from error
    try:
        yield client
    except KafkaError as error:
        raise TransportError(f"{where} refused: {error!r}") from error
    finally:
        client.close()


def list_topics(connection: Connection) -> dict[str, int]:
    """Return the number of partitions of each of our topics that exists."""
    ours = {layout.name for layout in LAYOUTS}
    with _admin(connection) as client:
        present = sorted(ours & set(client.list_topics()))
        described = client.describe_topics(present) if present else []
    return {topic.get("name") or topic["topic"]: len(topic["partitions"]) for topic in described}


def create_topics(connection: Connection, partitions: int, replication: int) -> list[str]:
    """Create those of our topics that do not exist, and return their names. Running it again changes nothing."""
    present = list_topics(connection)
    missing = {
        layout.name: {
            "num_partitions": layout.partitions or partitions,
            "replication_factor": replication,
            "configs": layout.config,
        }
        for layout in LAYOUTS
        if layout.name not in present
    }
    if missing:
        with _admin(connection) as client:
            client.create_topics(missing, timeout_ms=30_000, wait_for_metadata=True)
    return sorted(missing)


def check_topics(connection: Connection) -> list[str]:
    """Return what is wrong with our topics, a sentence each; an empty list when all is well."""
    present = list_topics(connection)
    problems = [
        f"topic {layout.name} does not exist: run `schedmate topics create`"
        for layout in LAYOUTS
        if layout.name not in present
    ]
    shared = {
        layout.name: present[layout.name] for layout in LAYOUTS if layout.partitions is None and layout.name in present
    }
    if len(set(shared.values())) > 1:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(shared.items()))
        problems.append(
            f"expected the same number of partitions in every topic that a job's state is made from, got {counts}: "
            "stop the workers and raise the smaller ones with Kafka's own tool "
            f"(kafka-topics.sh --alter --partitions {max(shared.values())})"
        )
    problems += [
        f"expected {layout.partitions} partition in {layout.name}, got {present[layout.name]}: delete the topic and create it again"
        for layout in LAYOUTS
        if layout.partitions is not None and present.get(layout.name, layout.partitions) != layout.partitions
    ]
    return problems
