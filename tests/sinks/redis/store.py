"""A Redis seen through a prefix of its own, and records about one job."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import redis

from schedmate_records import (
    Component,
    Failure,
    JobEvent,
    JobMetric,
    Position,
    Record,
    decode,
    encode,
)
from sinks.redis.connect import open_redis
from sinks.redis.read_state import read_job
from sinks.redis.state import RedisState
from tests.servers.redis import RedisServer
from tests.sinks.made import T0

prefixes = itertools.count()


def on_the_wire(record: Record) -> Record:
    """The record as a consumer reads it."""
    return decode(type(record), encode(record))


@dataclass
class Store:
    """A Redis seen through a prefix of its own, with a clock that stands where it is put."""

    client: "redis.Redis"
    prefix: str
    now: float = T0
    offset: int = 0

    def __post_init__(self) -> None:
        self.state = RedisState(self.client, prefix=self.prefix, keep_s=700, keep_ended_s=100, clock=lambda: self.now)

    def update(self, *records: Record) -> None:
        """One batch, each record at the next offset."""
        self.state.update([self.placed(record) for record in records])

    def placed(self, record: Record) -> tuple[Position, Record]:
        self.offset += 1
        return Position("topic", 0, self.offset), on_the_wire(record)

    def job(self, job: str = "7") -> Any:
        return read_job(self.client, job, prefix=self.prefix)


@pytest.fixture
def store(redis_store: RedisServer) -> Iterator[Store]:
    client = open_redis(redis_store.url)
    yield Store(client, f"test{next(prefixes)}:")
    client.close()


def event(kind: str, time: float, attempt: int = 0, **fields: Any) -> JobEvent:
    return JobEvent(
        id=f"7/{attempt}/{kind}", job="7", attempt=attempt, kind=kind, time=T0 + time, scheduler="slurm", **fields
    )


def metric(time: float, step: int, rank: int = 0, attempt: int = 0, **fields: Any) -> JobMetric:
    return JobMetric(id=f"m/{time}/{rank}", job="7", attempt=attempt, rank=rank, time=T0 + time, step=step, **fields)


def failure(revision: int, kind: str = "infrastructure", attempt: int = 0, **fields: Any) -> Failure:
    made = {"message": f"revision {revision}", "faulty_component": Component.GPU, "signature": "xid-79", **fields}
    return Failure(
        id=f"f/{attempt}/{revision}", job="7", attempt=attempt, revision=revision, time=T0, error_type=kind, **made
    )
