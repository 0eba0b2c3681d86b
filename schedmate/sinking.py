"""The sink: what comes out of the processors and the bridge goes to ClickHouse and Redis, in one go."""

from collections.abc import Sequence
from typing import Protocol

from records import TOPICS, Position, Record
from sinks import Hold

NOT_STORED = ("job-logs", "node-logs")
"""Lines stay where they are: in Kafka, for as long as it keeps them."""

STORED = tuple(topic.name for topic in TOPICS if topic.name not in NOT_STORED)


class Store(Protocol):
    """Takes batches of records; repeats change nothing."""

    def write(self, batch: Sequence[tuple[Position, Record]]) -> None:
        """Return once `batch` lasts. Raises `SinkUnavailable` (try again) or `SinkRejected` (for good)."""


class Sinks:
    """Writes every batch to all stores, and holds the stream back while one of them is away."""

    def __init__(self, stores: Sequence[tuple[Store, Hold]]) -> None:
        self._stores = stores

    def write(self, batch: Sequence[tuple[Position, Record]]) -> None:
        """Return once `batch` lasts in every store."""
        if batch:
            for store, hold in self._stores:
                hold.run(lambda store=store: store.write(batch))  # type: ignore[misc]

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        return [f"{hold.store} is away" for _, hold in self._stores if hold.away]
