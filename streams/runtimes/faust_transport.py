"""Faust's transport, with clients that wait for a broker: Faust itself ends where one is away in the moment of the start."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import coroutine
from typing import Any

import faust
from aiokafka.errors import KafkaConnectionError
from faust.transport.drivers import aiokafka as driver
from mode.services import Service, WaitResults

from ..resilience import Outage


class PromptWait(Service):
    """A service whose `wait_first` makes tasks only where there is something to wait for.

    Faust hands a fetched message to its agents by `Service.wait_first`, which puts the hand-over, and three things that may interrupt it,
    into a task each. That costs more than all else that Faust does to a message. A hand-over seldom waits: only for an agent whose queue
    is full.
    """

    logger = logging.getLogger("faust.transport.prompt")  # what is set for Faust's own holds for it

    async def wait_first(self, *awaited: Any, timeout: Any = None) -> WaitResults:
        """Return what the first of `awaited` returns if it ends without waiting; else wait until any of them is done, as Faust does."""
        first, others = awaited[0], awaited[1:]
        if not asyncio.iscoroutine(first):
            return await super().wait_first(*awaited, timeout=timeout)
        try:
            waits_for = first.send(None)
        except BaseException as end:
            for other in filter(asyncio.iscoroutine, others):
                other.close()  # it was never begun
            if isinstance(end, StopIteration):
                return WaitResults([first], [end.value], stopped=False)
            raise
        return await super().wait_first(_go_on(first, waits_for), *others, timeout=timeout)


async def _go_on(begun: Coroutine[Any, Any, Any], waits_for: Any) -> Any:
    """Return what a coroutine returns that was begun already and waits for a future."""
    return await _rest(begun, waits_for)


@coroutine
def _rest(begun: Coroutine[Any, Any, Any], waits_for: Any) -> Generator[Any, Any, Any]:
    while True:
        try:
            came = yield waits_for
        except BaseException as error:  # noqa: BLE001  # a cancellation, too, is for the coroutine to deal with
            raised: BaseException | None = error
        else:
            raised = None
        try:
            waits_for = begun.send(came) if raised is None else begun.throw(raised)
        except StopIteration as end:
            return end.value


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
