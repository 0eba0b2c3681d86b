"""How Faust's consumer hands messages on, without the tasks that it makes for each.

Faust hands a fetched message to its agents by `Service.wait_first`, which puts the hand-over, and three things that may interrupt it,
into a task each. That costs more than all else that Faust does to a message. A hand-over seldom waits: only for an agent whose queue is
full.
"""

import asyncio
import logging
from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any

from mode.services import Service, WaitResults


class PromptWait(Service):
    """A service whose `wait_first` makes tasks only where there is something to wait for."""

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
