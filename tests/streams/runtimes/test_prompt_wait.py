import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from streams.kafka import Connection
from streams.runtimes.faust_app import faust_app
from streams.runtimes.faust_transport import PatientConsumer, PromptWait


def run(scene: Callable[[PromptWait], Awaitable[None]]) -> None:
    async def play() -> None:
        await scene(PromptWait())

    asyncio.run(play())


def test_what_ends_at_once_makes_no_task() -> None:
    async def scene(service: PromptWait) -> None:
        tasks = 0

        def count(loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> "asyncio.Task[Any]":
            nonlocal tasks
            tasks += 1
            return asyncio.Task(work, loop=loop, **more)

        async def at_once() -> str:
            return "done"

        asyncio.get_running_loop().set_task_factory(count)
        for _ in range(10):
            found = await service.wait_first(at_once(), asyncio.Event().wait())
            assert (found.results, found.stopped) == (["done"], False)
        assert tasks == 0

    run(scene)


def test_what_waits_is_waited_for() -> None:
    async def scene(service: PromptWait) -> None:
        seen = []

        async def slowly() -> str:
            seen.append("begun")
            await asyncio.sleep(0.01)
            await asyncio.sleep(0)
            seen.append("over")
            return "done"

        found = await service.wait_first(slowly(), asyncio.Event().wait())
        assert (found.results, seen) == (["done"], ["begun", "over"])

    run(scene)


def test_what_waits_can_be_interrupted() -> None:
    async def scene(service: PromptWait) -> None:
        suspended, cancelled = asyncio.Event(), []

        async def forever() -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

        asyncio.get_running_loop().call_later(0.01, suspended.set)
        found = await service.wait_first(forever(), suspended.wait())
        await asyncio.sleep(0)
        assert found.results == [True]
        assert cancelled == [True]

    run(scene)


@pytest.mark.parametrize("pause", [None, 0.01])
def test_an_error_is_raised(pause: float | None) -> None:
    async def scene(service: PromptWait) -> None:
        async def fails() -> None:
            if pause is not None:
                await asyncio.sleep(pause)
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            await service.wait_first(fails(), asyncio.Event().wait())

    run(scene)


def test_an_error_that_is_dealt_with_is_not_raised() -> None:
    async def scene(service: PromptWait) -> None:
        async def mends() -> str:
            broken = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_later(0.01, broken.set_exception, ValueError("no"))
            try:
                await broken
            except ValueError:
                await asyncio.sleep(0)
            return "mended"

        assert (await service.wait_first(mends(), asyncio.Event().wait())).results == ["mended"]

    run(scene)


def test_events_are_waited_for_as_faust_does() -> None:
    async def scene(service: PromptWait) -> None:
        event = asyncio.Event()
        asyncio.get_running_loop().call_later(0.01, event.set)
        assert (await service.wait_first(event)).results == [True]

    run(scene)


def test_faust_uses_it() -> None:
    app = faust_app(Connection(brokers=("127.0.0.1:1",)), "group", 10.0)
    assert app.transport.Consumer is PatientConsumer
    assert PatientConsumer.logger.name.startswith("faust."), "`run_app` makes Faust's loggers silent by that name"
