"""Faust's transport, with clients that wait for a broker: Faust itself ends where one is away in the moment of the start."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import faust
from aiokafka.errors import KafkaConnectionError
from faust.transport.drivers import aiokafka as driver

from ..resilience import Outage
from .prompt_wait import PromptWait


class PatientProducer(driver.Producer):
    """A producer that waits for its broker."""

    async def on_start(self) -> None:
        """Connect, once there is a broker."""
        await _started(super().on_start, self, lambda: self._producer)


class PatientThread(driver.AIOKafkaConsumerThread):
    """A consumer that waits for its broker."""

    async def on_start(self) -> None:
        """Connect, once there is a broker."""
        await _started(super().on_start, self, lambda: self._consumer)


class PatientConsumer(PromptWait, driver.Consumer):
    """The side of the consumer outside its thread: hands on what the thread fetches."""

    def _new_consumer_thread(self) -> PatientThread:
        return PatientThread(self, loop=self.loop, beacon=self.beacon)


class PatientTransport(driver.Transport):
    """Faust's transport with these clients."""

    Consumer = PatientConsumer
    Producer = PatientProducer


class PatientApp(faust.App):
    """A Faust application with this transport."""

    def _new_transport(self) -> PatientTransport:
        return PatientTransport(self.conf.broker_consumer, self)

    def _new_producer_transport(self) -> PatientTransport:
        return PatientTransport(self.conf.broker_producer, self)


async def _started(start: Callable[[], Awaitable[None]], service: Any, client: Callable[[], Any]) -> None:
    """Await `start` until a broker answers, or `service` is to stop; each try makes a client anew, and the old one is closed."""
    # Try every 2 s at least: an operator may wait for the start.
    outage = Outage("Kafka", limit_s=2.0, consequence="the worker starts once it answers")
    while True:
        try:
            await start()
        except KafkaConnectionError as error:
            with contextlib.suppress(Exception):
                await client().stop()
            if service.should_stop:
                raise
            await asyncio.sleep(outage.failed(error))
        else:
            outage.succeeded()
            return
