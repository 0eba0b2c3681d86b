"""Time limits of requests and a limit of connections, which uvicorn lacks: it waits for the rest of a request without an end."""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S: Final = 10.0
"""Seconds for the head of a request, and again for its body: forms of at most 16 KB."""
MOST_CONNECTIONS: Final = 500
"""Connections at a time; the system gives a process 1,024 files."""


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for each part of an exchange.

    When there are too many connections, the one that has waited longest for a request is cut off.

    Attributes:
        since: Time at which the present part of the exchange began, by the loop's clock.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._part: tuple[str, object] = ("", None)
        self.since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for a request, and make room for this connection."""
        super().connection_made(transport)
        self._limit_part()
        if len(self.connections) > MOST_CONNECTIONS:
            ours = [each for each in self.connections if isinstance(each, LimitedProtocol)]
            longest = min((each for each in ours if each.waits), key=lambda each: each.since, default=self)
            self.connections.discard(longest)
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the time limit."""
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request."""
        super().data_received(data)
        self._limit_part()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._limit_part()

    @property
    def waits(self) -> bool:
        """True while no request is answered."""
        return self._part[0] != "answer"

    def _limit_part(self) -> None:
        """Begin the time limit of the present part of the exchange, unless it has begun before."""
        part = self._present_part()
        if (part, self.cycle) == self._part or self.transport.is_closing():
            return
        self._part, self.since = (part, self.cycle), self.loop.time()
        if self._timer:
            self._timer.cancel()
        self._timer = None
        if part != "answer":
            self._timer = self.loop.call_later(REQUEST_S, self.transport.abort)
        elif self.scope["path"] != "/changes":
            # A question to the database may take 15 s, and several pages wait for the embedded engine in turn.
            self._timer = self.loop.call_later(120.0, self.transport.abort)

    def _present_part(self) -> str:
        if self.cycle is None or self.cycle.response_complete:
            return "head"
        return "body" if self.cycle.more_body else "answer"
