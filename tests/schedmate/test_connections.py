"""A service waits for a broker that is away."""

import socket
import threading
from collections.abc import Iterator

import pytest

from schedmate.connections import permitted
from schedmate.settings import KafkaSection
from streams.transport import BrokerUnavailable, TransportError


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


def test_a_broker_that_breaks_connections_off_is_waited_for_until_the_service_is_stopped(closing: int) -> None:
    stop, ended = threading.Event(), []

    def run() -> None:
        try:
            permitted(KafkaSection(brokers=f"127.0.0.1:{closing}"), "sink", stop)
        except TransportError as error:
            ended.append(error)

    service = threading.Thread(target=run)
    service.start()
    service.join(3.0)
    assert service.is_alive()
    stop.set()
    service.join(60.0)
    assert isinstance(ended[0], BrokerUnavailable)
    assert "broke the connection off" in str(ended[0])
