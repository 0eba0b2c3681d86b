"""A service waits for a broker that is away."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from structlog.testing import capture_logs

from schedmate import connections
from schedmate.connections import permitted, wait_for_broker
from schedmate.settings.settings import KafkaSection
from streams.kafka import Connection, KafkaConsumer, list_topics
from streams.transport import BrokerUnavailable, TransportError
from tests.servers.kafka import Kafka, refusing


@pytest.fixture
def closing() -> Iterator[int]:
    """Yield the port of a server that breaks every connection off, as a broker that stops or a proxy without one does."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                server.accept()[0].close()
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1]
    server.close()


def test_a_broker_that_breaks_connections_off_is_waited_for_until_the_service_is_stopped(
    closing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, ended = threading.Event(), []
    reach = connections.kafka_connection
    monkeypatch.setattr(
        connections, "kafka_connection", lambda settings: replace(reach(settings), bootstrap_timeout_s=0.2)
    )

    def run() -> None:
        try:
            permitted(KafkaSection(brokers=f"127.0.0.1:{closing}"), "sink", stop)
        except TransportError as error:
            ended.append(error)

    service = threading.Thread(target=run)
    with capture_logs() as logged:
        service.start()
        while not any(entry["event"] == "dependency_unavailable" for entry in logged):
            service.join(0.02)
            assert service.is_alive(), ended
        stop.set()
        service.join(60.0)
    assert isinstance(ended[0], BrokerUnavailable)
    assert "broke the connection off" in str(ended[0])


@pytest.mark.kafka
def test_a_service_whose_broker_goes_away_again_while_it_starts_waits_and_goes_on(own_kafka: Kafka) -> None:
    stop = threading.Event()
    own_kafka.kill()
    connection = Connection(brokers=(own_kafka.address,), bootstrap_timeout_s=0.5)
    with refusing(own_kafka.address) as tries:
        joined: list[KafkaConsumer] = []
        join = partial(KafkaConsumer, connection, "starting", ["job-logs"])
        starting = threading.Thread(target=lambda: joined.append(wait_for_broker(join, stop)))
        starting.start()
        while len(tries) < 3:
            starting.join(0.02)
            assert starting.is_alive()
    own_kafka.start()
    starting.join(60)
    (consumer,) = joined
    consumer.close()
    assert wait_for_broker(partial(list_topics, connection), stop)["job-logs"] == 4
