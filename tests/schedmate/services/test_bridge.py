"""The bridge on Kafka: one that takes over knows what jobs failed with before."""

import json
import time
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

from schedmate.services.bridge import Bridging, History
from schedmate_records import Failure, Position, encode
from streams.kafka import KafkaFollower, KafkaProducer
from streams.transport import Outgoing
from tests.scheduler_bridge.findings import failure
from tests.scheduler_bridge.test_limits import SETTINGS, Cluster
from tests.servers.kafka import Kafka

pytestmark = pytest.mark.kafka

JOB = "ada/0"


def verdict(**changes: Any) -> Failure:
    return failure(job=JOB, time=time.time(), **changes)


class Site:
    """A scheduler, and bridges that follow one upon another."""

    def __init__(self, kafka: Kafka) -> None:
        self.kafka, self.cluster, self.stop = kafka, Cluster(), Event()
        self.producer = KafkaProducer(kafka.connection)

    def fails(self, failed: Failure, *, written: bytes | None = None) -> None:
        """Write a verdict, let a new bridge read it, and let it work."""
        self.producer.send(Outgoing("failures", JOB.encode(), written or encode(failed))).result(30)
        history = History(self.kafka.connection)
        bridging = Bridging(self.cluster, SETTINGS, self.producer, history, self.stop, active=lambda: True)
        bridging.handle([(Position("failures", 0, 0), failed)])
        bridging.close()

    def outcomes(self) -> list[str]:
        follower = KafkaFollower(self.kafka.connection, ["decision-results"])
        results = [json.loads(message.value or b"") for message in follower.new()]
        follower.close()
        return [f"{each['outcome']} {each['detail'].partition(':')[0]}".rstrip() for each in results]


@pytest.fixture
def site(own_kafka: Kafka) -> Iterator[Site]:
    site = Site(own_kafka)
    yield site
    site.producer.close()


def test_it_refuses_a_restart_that_gains_nothing(site: Site) -> None:
    site.fails(verdict(step=1000))
    site.fails(verdict(attempt=1, step=1000))
    assert site.outcomes() == ["started", "done", "refused progress"]
    assert site.cluster.attempts == {JOB: 1}


def test_verdicts_of_older_workers_tell_no_step_and_those_of_newer_ones_more_than_that(site: Site) -> None:
    old = {name: said for name, said in json.loads(encode(verdict())).items() if name not in ("step", "epoch")}
    site.fails(verdict(), written=json.dumps(old).encode())
    site.fails(verdict(attempt=1, step=1000))
    assert site.outcomes() == ["started", "done", "started", "done"]
    new = verdict(attempt=2, step=900)
    site.fails(new, written=json.dumps(json.loads(encode(new)) | {"tokens": 5}).encode())
    assert site.outcomes()[4:] == ["refused progress"]
