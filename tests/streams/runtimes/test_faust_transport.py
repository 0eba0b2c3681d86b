"""Faust's clients on a broker that goes away while they start."""

import asyncio
from collections.abc import Callable

import pytest
from faust.types import ServiceT

from streams.runtimes.faust_app import faust_app
from streams.runtimes.faust_transport import PatientApp
from tests.servers.kafka import Kafka, refusing

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
PATIENCE_S = 90.0


@pytest.mark.parametrize("client", [lambda app: app.producer, lambda app: app.consumer], ids=["producer", "consumer"])
def test_a_client_waits_for_a_broker_that_is_away_and_then_starts(
    own_kafka: Kafka, client: Callable[[PatientApp], ServiceT]
) -> None:
    async def started() -> None:
        app = faust_app(own_kafka.connection, "patient", 10.0)
        service = client(app)
        with refusing(own_kafka.address) as tries:
            starting = asyncio.create_task(service.start())
            while len(tries) < 3:
                await asyncio.sleep(0.05)
                assert not starting.done(), "it would have ended the worker"
        await asyncio.to_thread(own_kafka.start)
        await asyncio.wait_for(starting, PATIENCE_S)
        await service.stop()

    own_kafka.kill()
    asyncio.run(started())
