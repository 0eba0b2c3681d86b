"""A server that ends the streams of open pages when it stops: it would wait for them for ever."""

import socket

import uvicorn
from starlette.applications import Starlette

from .changes import Changes
from .protocol import LimitedProtocol


class PageServer(uvicorn.Server):
    """Serves `app`, and logs no requests."""

    def __init__(self, app: Starlette) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=LimitedProtocol,
                ws="none",
                log_level="warning",
                access_log=False,
                server_header=False,
                lifespan="off",
            )
        )
        self._changes: Changes | None = app.state.changes

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving."""
        if self._changes:
            self._changes.end_streams()
        await super().shutdown(sockets)
