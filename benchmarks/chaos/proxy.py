"""A TCP proxy between clients and a server, which can cut and delay connections."""

import asyncio
import contextlib
import threading

_BLOCK = 1 << 16


class Proxy:
    """Listens on a loopback port of its own and passes bytes to and from `target`; runs in a thread.

    Attributes:
        port: Where clients connect.
        delay_s: How long every block waits before it is passed on.
    """

    def __init__(self, target: int) -> None:
        self.delay_s = 0.0
        self._target = target
        self._refusing = False
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._connected, "127.0.0.1", 0))
        self.port = int(self._server.sockets[0].getsockname()[1])
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"proxy to {target}", daemon=True)
        self._thread.start()

    def cut(self, *, refuse: bool) -> None:
        """Break all connections; `refuse`: and every new one, until `heal`."""
        self._refusing = refuse
        asyncio.run_coroutine_threadsafe(self._break(), self._loop).result(5)

    def heal(self) -> None:
        """Let everything through again, at once."""
        self._refusing, self.delay_s = False, 0.0

    def close(self) -> None:
        """Break all connections and stop listening."""
        self._server.close()
        self.cut(refuse=True)
        asyncio.run_coroutine_threadsafe(self._finish(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    async def _break(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    async def _finish(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            writer.transport.abort()
            return
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, server_writer}
        self._open |= both
        try:
            # asyncio prints the trace of a handler that is cancelled, as `close` does.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(self._copy(reader, server_writer), self._copy(server_reader, writer))
        finally:
            self._open -= both
            for each in both:
                each.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while block := await reader.read(_BLOCK):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                writer.write(block)
                await writer.drain()
        writer.close()
