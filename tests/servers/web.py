"""Serves the page of a database from a thread, on a free port of the loopback."""

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import uvicorn

from processors.diagnose import Signature
from schedmate.web import Database, make_app

PATIENCE_S = 20.0


@contextmanager
def web_server(database: Database, signatures: Mapping[str, Signature]) -> Iterator[str]:
    """Yield the address of the page."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    config = uvicorn.Config(make_app(database, signatures), log_level="warning", access_log=False, lifespan="off")
    server = uvicorn.Server(config)
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
        listening.close()
        database.close()
