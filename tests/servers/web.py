"""Serves the page of a database from a thread, on a free port of the loopback."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from clickhouse_connect.driver.client import Client

from processors.diagnose import Signature
from schedmate.web.app import opened_app
from schedmate.web.serve import PageServer

PATIENCE_S = 20.0


@contextmanager
def web_server(connect: Callable[[], Client], signatures: Mapping[str, Signature], **options: Any) -> Iterator[str]:
    """Yield the address of the page of the embedded database that `connect` opens; `options` are those of `opened_app`."""
    with socket.socket() as listening, opened_app(connect, signatures, embedded=True, **options) as app:
        listening.bind(("127.0.0.1", 0))
        server = PageServer(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + PATIENCE_S
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)
