"""What a run left behind: every topic, every table."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import kafka
from clickhouse_connect.driver.client import Client
from kafka.errors import KafkaError

from benchmarks.chaos.replay import verdict_identity
from schedmate_records import BY_NAME, TOPICS
from sinks.clickhouse.client import open_client
from sinks.clickhouse.tables import STORED_TOPICS, TABLE_OF
from streams.kafka import Connection, read_back
from streams.transport import Message

GROUPS = {
    "schedmate-worker": (
        *(
            "job-logs",
            "job-events",
            "pipe-events",
            "model-answers",
            "node-findings",
            "gpu-activity",
            "node-logs",
            "gpu-metrics",
            "placements",
        ),
    ),
    "schedmate-sink": STORED_TOPICS,
    "schedmate-bridge": ("failures", "slowdowns", "alarms", "decisions", "decision-results", "job-events"),
}
"""What each group reads."""


@dataclass(frozen=True)
class Observed:
    """Topics and tables as they stand.

    Attributes:
        topics: The messages of each topic, each partition in order.
        ids: The id of each row, by table, repeats included; of a verdict its `verdict_identity`.
        steps: The last step of each job in `job_metrics`.
        results: Decision id and outcome of every row of `decision_results`.
        buried: Place of the input of every row of `dead_letters`.
        failed: Why each record that decoded could not be processed.
    """

    topics: dict[str, list[Message]]
    ids: dict[str, list[str]]
    steps: dict[str, int]
    results: list[tuple[str, str]]
    buried: set[tuple[str, int, int]]
    failed: list[str]


def observe(connection: Connection, clickhouse_url: str) -> Observed:
    """Read everything."""
    topics = {topic.name: list(read_back(connection, [topic.name])) for topic in TOPICS}
    client = open_client(clickhouse_url)

    def ask(statement: str) -> list[Any]:
        return list(client.query(statement).result_rows)

    try:
        return Observed(
            topics,
            {table: stored_ids(client, table) for table in dict.fromkeys(TABLE_OF.values())},
            dict(ask("SELECT job, max(step) FROM job_metrics WHERE step IS NOT NULL GROUP BY job")),
            ask("SELECT decision_id, outcome FROM decision_results"),
            {tuple(row) for row in ask("SELECT topic, partition, offset FROM dead_letters")},
            [f"{row[0]}: {row[1]}" for row in ask("SELECT topic, reason FROM dead_letters WHERE stage = 'process'")],
        )
    finally:
        client.close()


def stored_ids(client: Client, table: str) -> list[str]:
    """Return the id of each row of `table`, repeats included; of a verdict its `verdict_identity`."""
    if table == "failures":
        return [verdict_identity(*row) for row in client.query("SELECT id, revision FROM failures").result_rows]
    return [row[0] for row in client.query(f"SELECT id FROM {table}").result_rows]


def wait_until_quiet(connection: Connection, unsent: Callable[[], int], deadline_s: float) -> dict[str, int]:
    """Wait until nothing is `unsent` and every group has committed all that its topics hold, twice in a row.

    Returns:
        What is left behind, by group; all 0 where it became quiet in time.
    """
    deadline, before = time.monotonic() + deadline_s, -1
    while True:
        try:
            waiting = unsent()
            left, end = _behind(connection)
            left["unsent"] = waiting
        except KafkaError as error:  # a broker that has just come back does not know its groups yet
            left, end = {repr(error): 1}, -1
        if not any(left.values()) and end == before:
            return left
        if time.monotonic() > deadline:
            return {**left, **({} if any(left.values()) else {"still written": end - before})}
        before = end
        time.sleep(1.0)


def _behind(connection: Connection) -> tuple[dict[str, int], int]:
    """Return how far each group is behind, and how many messages there are in all."""
    parts: dict[str, list[Any]] = {}
    consumer = kafka.KafkaConsumer(**connection.config(), group_id=None)
    admin = kafka.KafkaAdminClient(**connection.config())
    try:
        for name in BY_NAME:
            parts[name] = [kafka.TopicPartition(name, number) for number in consumer.partitions_for_topic(name)]
        ends = consumer.end_offsets([part for each in parts.values() for part in each])
        left = {}
        for group, topics in GROUPS.items():
            found = admin.list_group_offsets({group: None})[group]
            at = {part: found[part].offset if part in found else 0 for name in topics for part in parts[name]}
            left[group] = sum(max(ends[part] - max(offset, 0), 0) for part, offset in at.items())
        return left, sum(ends.values())
    finally:
        consumer.close()
        admin.close()
